package io.troupe.actors.peers;

import io.troupe.metrics.RateLimitedLogger;
import io.troupe.model.EtcdVersion;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerGreeting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections between this member and the other members: the peer ports, and the links to other
 * members. Each connection goes in one direction and has blocking threads of its own
 * (docs/decisions/0191). Thread-safe.
 */
public final class PeerNetwork implements AutoCloseable, IncomingConnection.Port {
  private static final Logger LOG = LoggerFactory.getLogger(PeerNetwork.class);

  /** Unknown processes at the front of the accept queue are refused faster than new ones come. */
  public static final int BACKLOG = 1024;

  /** Messages that wait for one connection. */
  private static final int MAX_MESSAGES = 3072;

  /** For messages that wait when the network closes. */
  private static final Duration FLUSH = Duration.ofMillis(100);

  /** Longest wait after a failed accept: usually the process has no free file descriptor. */
  private static final Duration ACCEPT_PAUSE = Duration.ofMillis(100);

  /**
   * Settings of a network.
   *
   * @param self first of this member's advertised peer URLs as text
   * @param localHost address of this machine that connections to other members come from, without
   *     brackets; null: any
   * @param memoryBytes limit for messages in flight; 0: three sixteenths of the heap
   * @param server version of etcd's API that this member serves
   */
  public record Settings(
      String self, @Nullable String localHost, long memoryBytes, EtcdVersion server) {}

  /** Longest wait for a thread whose port was closed. */
  private static final Duration ACCEPTOR_END = Duration.ofSeconds(5);

  /** Interval of checks for connections without a byte. */
  private static final Duration IDLE_CHECK = Duration.ofSeconds(5);

  private final Settings settings;
  private final PeerAddress self;
  private final @Nullable PeerTls tls;
  private final List<PeerListener> ports;
  private final PeerMemory memory;
  private final HandshakeLimit handshakes = new HandshakeLimit(System.nanoTime());
  private final RateLimitedLogger log =
      new RateLimitedLogger(LoggerFactory.getLogger(IncomingConnection.class));
  private final RateLimitedLogger linkLog =
      new RateLimitedLogger(LoggerFactory.getLogger(PeerLink.class));
  private final PeerConnections connections;
  private final Map<PeerChannel, PeerReceiver> receivers = new ConcurrentHashMap<>();
  private final Set<PeerLink> links = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor timer;
  private final List<Thread> acceptors = new ArrayList<>();
  private volatile boolean closed;

  private PeerNetwork(Settings settings, @Nullable PeerTls tls, List<PeerListener> ports) {
    this.settings = settings;
    this.self = PeerAddress.of(settings.self());
    this.tls = tls;
    this.ports = List.copyOf(ports);
    this.memory = PeerMemory.of(settings.memoryBytes());
    this.connections = new PeerConnections(memory.fragments(), log);
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "peer-timer");
              thread.setDaemon(true);
              return thread;
            });
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    every(IDLE_CHECK, connections::endIdle);
  }

  /**
   * Serves the peer ports. Greetings of other members are refused as "starting" until their channel
   * is served.
   *
   * @param ports closed with the network
   * @param tls null if members do not speak TLS
   * @param broken called if a port stops accepting connections before it is closed: the member
   *     would be deaf and seem healthy
   */
  public static PeerNetwork open(
      Settings settings,
      List<PeerListener> ports,
      @Nullable PeerTls tls,
      Consumer<Throwable> broken) {
    PeerNetwork network = new PeerNetwork(settings, tls, ports);
    for (PeerListener port : ports) {
      Thread acceptor = new Thread(() -> network.acceptAll(port), "peer-accept");
      acceptor.setUncaughtExceptionHandler((thread, failure) -> broken.accept(failure));
      acceptor.setDaemon(true);
      acceptor.start();
      network.acceptors.add(acceptor);
    }
    return network;
  }

  /** Memory for messages in flight. */
  public PeerMemory memory() {
    return memory;
  }

  /** Open connections of other processes. */
  public int incoming() {
    return connections.count();
  }

  /** Passes what comes on a channel to a receiver from now on. */
  void serve(PeerChannel channel, PeerReceiver receiver) {
    receivers.put(channel, receiver);
  }

  /** Calls a task repeatedly until the network closes, on a thread that must not block. */
  void every(Duration interval, Runnable task) {
    // Tasks log their failures; the network cancels them.
    ScheduledFuture<?> unused =
        timer.scheduleWithFixedDelay(
            () -> {
              try {
                task.run();
              } catch (RuntimeException failure) {
                LOG.error("a periodic task of the connections between members failed", failure);
              }
            },
            0,
            interval.toNanos(),
            TimeUnit.NANOSECONDS);
  }

  /**
   * A link to a member, without a connection yet.
   *
   * @param addresses of the member, at least one; read before each connection
   * @param greeting first frame of each connection
   * @param dropped receives numbers of dropped messages
   * @param refused receives each reply that refuses a connection
   */
  PeerLink link(
      Supplier<List<PeerAddress>> addresses,
      Supplier<PeerGreeting> greeting,
      IntConsumer dropped,
      Consumer<PeerGreeting.Reply> refused) {
    PeerLink link =
        new PeerLink(
            addresses,
            () -> greeting.get().of(settings.server()),
            this::connect,
            new OutboundQueue(memory.outbound(), MAX_MESSAGES),
            count -> {
              if (count > 0) {
                dropped.accept(count);
              }
            },
            refused,
            linkLog);
    links.add(link);
    if (closed) {
      link.close();
    }
    return link;
  }

  /** Closes a link that is not used any more. */
  void unlink(PeerLink link) {
    link.close();
    links.remove(link);
  }

  private PeerSocket connect(PeerAddress to, Duration timeout) throws IOException {
    Socket socket = open(to, timeout);
    try {
      return tls == null
          ? PeerSocket.plain(socket)
          : new PeerSocket(socket, tls.client(socket, to.bareHost(), to.port()));
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  private ChannelSocket open(PeerAddress to, Duration timeout) throws IOException {
    if (to.socket() != null) {
      return ChannelSocket.connect(to.socket());
    }
    InetSocketAddress address = new InetSocketAddress(to.bareHost(), to.port());
    if (address.isUnresolved()) {
      throw new UnknownHostException(to.host());
    }
    return ChannelSocket.connect(settings.localHost(), address, (int) timeout.toMillis());
  }

  private void acceptAll(PeerListener port) {
    while (!closed) {
      try {
        accepted(port.accept());
      } catch (IOException e) {
        if (!closed) {
          log.warn("the peer port cannot accept a connection:", String.valueOf(e.getMessage()));
          pause();
        }
      }
    }
  }

  private void pause() {
    try {
      TimeUnit.NANOSECONDS.sleep(ACCEPT_PAUSE.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void accepted(Socket socket) throws IOException {
    try {
      // Null for a unix socket: processes of this machine are not limited.
      InetAddress from = socket.getInetAddress();
      if (tls != null && from != null && !handshakes.admits(from, System.nanoTime())) {
        log.warn(
            "connection to the peer port ended: too many handshakes",
            "from=" + from.getHostAddress());
        PeerSocket.plain(socket).reset();
        return;
      }
      socket.setTcpNoDelay(true);
      PeerSocket secured =
          tls == null ? PeerSocket.plain(socket) : new PeerSocket(socket, tls.server(socket));
      IncomingConnection connection = new IncomingConnection(secured, this, log);
      connections.enter(connection);
      start(connection, "peer-in-" + secured.remoteText());
    } catch (IOException ended) {
      LOG.debug("connection to the peer port ended reason={}", ended.toString());
      socket.close();
    } catch (RuntimeException e) {
      socket.close();
      if (!closed) {
        LOG.error("the peer port cannot serve a connection", e);
      }
    }
  }

  private void start(IncomingConnection connection, String name) {
    ScheduledFuture<?> expiry =
        timer.schedule(
            connection::expire, IncomingConnection.FIRST_FRAME.toNanos(), TimeUnit.NANOSECONDS);
    Thread thread =
        new Thread(
            () -> {
              try {
                connection.run();
              } finally {
                expiry.cancel(false);
              }
            },
            name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(
        (failed, failure) -> LOG.error("a connection of another member failed", failure));
    try {
      thread.start();
    } catch (OutOfMemoryError noThread) {
      // The system has no thread left: the member itself continues.
      log.warn(
          "connection to the peer port ended: no thread for it;",
          String.valueOf(noThread.getMessage()));
      expiry.cancel(false);
      connections.leave(connection);
      connection.end();
    }
  }

  @Override
  public PeerConnections connections() {
    return connections;
  }

  @Override
  public @Nullable PeerReceiver receiver(PeerChannel channel) {
    return receivers.get(channel);
  }

  @Override
  public @Nullable PeerTls tls() {
    return tls;
  }

  @Override
  public EtcdVersion server() {
    return settings.server();
  }

  @Override
  public PeerAddress self() {
    return self;
  }

  @Override
  public void memberSpoke(@Nullable InetAddress from) {
    if (from != null) {
      handshakes.memberSpoke(from, System.nanoTime());
    }
  }

  /**
   * Sends what waits, in a tenth of a second, and closes the port and all connections. Messages
   * that come meanwhile are still passed on.
   */
  @Override
  public void close() {
    closed = true;
    links.forEach(PeerLink::close);
    try {
      long endNanos = System.nanoTime() + FLUSH.toNanos();
      for (PeerLink link : links) {
        link.awaitEnd(Duration.ofNanos(Math.max(1_000_000, endNanos - System.nanoTime())));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (PeerListener port : ports) {
      try {
        port.close();
      } catch (IOException e) {
        LOG.warn("the peer port did not close", e);
      }
    }
    connections.endAll();
    timer.shutdownNow();
    awaitAcceptors();
  }

  /** The system frees a port only when no thread waits for its connections any more. */
  private void awaitAcceptors() {
    try {
      for (Thread acceptor : acceptors) {
        if (acceptor != Thread.currentThread()) {
          acceptor.join(ACCEPTOR_END.toMillis());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
