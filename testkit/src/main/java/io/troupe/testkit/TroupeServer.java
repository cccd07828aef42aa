package io.troupe.testkit;

import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cluster of one or three members inside this JVM, for tests, with ports of its own on 127.0.0.1
 * and temporary data. Any etcd v3 client can use it:
 *
 * <pre>{@code
 * try (TroupeServer server = TroupeServer.builder().start();
 *     Client client = Client.builder().endpoints(server.endpoint()).build()) {
 *   ...
 * }
 * }</pre>
 *
 * <p>Thread-safe. Several servers may run in one JVM; each is a cluster of its own. {@link #close}
 * removes everything; if it is not called, the data is deleted when the JVM shuts down.
 *
 * <p>If a member fails, for example because its disk is full, the JVM continues: the member stops,
 * logs the reason, and each later call except {@link #close} throws {@link TroupeServerException}
 * with that reason.
 */
public final class TroupeServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TroupeServer.class);

  /** Starts with new ports, if another process took one between its selection and its use. */
  private static final int MOST_ATTEMPTS = 5;

  private final Duration startTimeout;
  private final TemporaryData data;
  private final List<ReservedPort> ports = new ArrayList<>();
  private final List<Member> members = new ArrayList<>();
  private final List<String> endpoints = new ArrayList<>();
  private volatile boolean closed;

  private TroupeServer(Builder builder) throws IOException {
    this.startTimeout = builder.startTimeout;
    this.data = TemporaryData.create(() -> stop(members));
    boolean prepared = false;
    try {
      List<ReservedPort> clients = reserve(builder.members, builder.ports);
      List<ReservedPort> peers = reserve(builder.members, builder.ports);
      List<Map<String, Object>> settings =
          MemberSettings.of(
              data.root(), UUID.randomUUID().toString(), clients, peers, builder.settings);
      for (int i = 0; i < settings.size(); i++) {
        members.add(new Member(MemberSettings.name(i), settings.get(i)));
        endpoints.add(clients.get(i).url());
      }
      prepared = true;
    } finally {
      if (!prepared) {
        close();
      }
    }
  }

  private List<ReservedPort> reserve(int count, ReservedPort.Source source) throws IOException {
    List<ReservedPort> reserved = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ReservedPort port = source.open();
      ports.add(port);
      reserved.add(port);
    }
    return reserved;
  }

  /** Returns a builder of a server with one member. */
  public static Builder builder() {
    return new Builder();
  }

  private static TroupeServer start(Builder builder) {
    OpenPackages.ensure();
    for (int attempt = 1; ; attempt++) {
      TroupeServer server;
      try {
        server = new TroupeServer(builder);
      } catch (IOException e) {
        throw new TroupeServerException("cannot prepare temporary data and ports", e);
      }
      boolean started = false;
      try {
        server.start(server.members);
        started = true;
        return server;
      } catch (TroupeServerException e) {
        if (attempt == MOST_ATTEMPTS || !isPortTaken(e)) {
          throw e;
        }
        LOG.info("another process uses a selected port, trying others reason={}", e.getMessage());
      } finally {
        if (!started) {
          server.close();
        }
      }
    }
  }

  private static boolean isPortTaken(TroupeServerException failure) {
    return failure.getCause() instanceof StartException start
        && start.exitCode() == ExitCode.ADDRESS;
  }

  /**
   * Returns the client URL of the first member, {@code http://127.0.0.1:PORT}. It does not change
   * when the member restarts, and is known while the member is stopped.
   *
   * @throws IllegalStateException if the server is closed
   * @throws TroupeServerException if a member failed
   */
  public String endpoint() {
    return endpoints().get(0);
  }

  /**
   * Returns the client URLs of all members, also of stopped ones, in the order of their indexes.
   *
   * @return immutable
   * @throws IllegalStateException if the server is closed
   * @throws TroupeServerException if a member failed
   */
  public List<String> endpoints() {
    requireUsable();
    return List.copyOf(endpoints);
  }

  /**
   * Stops all members and starts them again with their data and ports. Returns when all are ready.
   *
   * @throws IllegalStateException if the server is closed
   * @throws TroupeServerException if a member failed earlier or cannot start; then all are stopped
   */
  public synchronized void restart() {
    requireUsable();
    List<Member> present = members.stream().filter(member -> !member.isRemoved()).toList();
    stop(members);
    start(present);
  }

  /**
   * Starts a member again with its data and its ports; stops it first if it runs. Returns when it
   * is ready, for which a majority of the members must run.
   *
   * @param index 0 for the first member
   * @throws IndexOutOfBoundsException if there is no such member
   * @throws IllegalStateException if the server is closed, or the cluster removed the member
   * @throws TroupeServerException if a member failed earlier, or this one cannot start; then it is
   *     stopped
   */
  public synchronized void restartMember(int index) {
    Member member = member(index);
    if (member.isRemoved()) {
      throw new IllegalStateException(
          member.name() + " was removed from the cluster and cannot be started again");
    }
    member.stop();
    start(List.of(member));
  }

  /**
   * Stops a member. A leader transfers its leadership first. Does nothing if the member is stopped.
   *
   * @param index 0 for the first member
   * @throws IndexOutOfBoundsException if there is no such member
   * @throws IllegalStateException if the server is closed
   * @throws TroupeServerException if a member failed
   */
  public synchronized void stopMember(int index) {
    member(index).stop();
  }

  private Member member(int index) {
    requireUsable();
    if (index < 0 || index >= members.size()) {
      throw new IndexOutOfBoundsException(
          "no member " + index + ": this server has members 0 to " + (members.size() - 1));
    }
    return members.get(index);
  }

  /** For tests of this module: the member as if it had failed. */
  void fail(int index, Throwable failure) {
    members.get(index).broke(failure);
  }

  private void requireUsable() {
    if (closed) {
      throw new IllegalStateException("this TroupeServer is closed");
    }
    for (Member member : members) {
      Throwable failure = member.failure();
      if (failure != null) {
        throw new TroupeServerException(member.name() + " failed: " + failure, failure);
      }
    }
  }

  /** Starts the members at the same time: those of a new cluster need each other. */
  private void start(List<Member> stopped) {
    BlockingQueue<Optional<Throwable>> results = new ArrayBlockingQueue<>(stopped.size());
    List<Thread> starters = new ArrayList<>();
    for (Member member : stopped) {
      Thread starter =
          new Thread(() -> results.add(startFailure(member)), "troupe-testkit-" + member.name());
      starter.setDaemon(true);
      starters.add(starter);
    }
    boolean started = false;
    try {
      starters.forEach(Thread::start);
      long endNanos = System.nanoTime() + startTimeout.toNanos();
      for (int i = 0; i < stopped.size(); i++) {
        Optional<Throwable> result =
            results.poll(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (result == null) {
          throw new TroupeServerException(
              "not all members were ready within " + startTimeout.toSeconds() + " s");
        }
        if (result.isPresent()) {
          throw new TroupeServerException(
              "cannot start: " + result.get().getMessage(), result.get());
        }
      }
      started = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TroupeServerException("interrupted while starting", e);
    } finally {
      if (!started) {
        starters.forEach(Thread::interrupt);
        starters.forEach(TroupeServer::join);
        stop(stopped);
      }
    }
  }

  /** Also an Error: the caller of start must receive it. */
  private static Optional<Throwable> startFailure(Member member) {
    try {
      member.start();
      return Optional.empty();
    } catch (CompletionException e) {
      return Optional.of(e.getCause() == null ? e : e.getCause());
    } catch (InterruptedException | RuntimeException | Error e) {
      return Optional.of(e);
    }
  }

  /** A starter that was interrupted ends soon; an interrupt of this thread must not hide it. */
  private static void join(Thread starter) {
    boolean interrupted = false;
    while (starter.isAlive()) {
      try {
        starter.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Stops all members, releases their ports, and deletes their data. Does nothing if the server is
   * closed.
   *
   * @throws TroupeServerException if a member cannot be stopped; the others are stopped
   * @throws UncheckedIOException if data cannot be deleted
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      stop(members);
    } finally {
      try {
        releasePorts();
      } finally {
        data.close();
      }
    }
  }

  private void releasePorts() {
    try {
      for (ReservedPort port : ports) {
        port.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot release ports", e);
    }
  }

  /** A member that cannot be stopped keeps no other member running. */
  private static void stop(List<Member> running) {
    TroupeServerException failure = null;
    for (Member member : running) {
      try {
        member.stop();
      } catch (TroupeServerException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Settings of a server, with defaults for tests. Not thread-safe. */
  public static final class Builder {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    private final Map<String, String> settings = new HashMap<>();
    private int members = 1;
    private Duration startTimeout = START_TIMEOUT;
    private ReservedPort.Source ports = ReservedPort::open;

    private Builder() {}

    /** For tests of this module. */
    Builder ports(ReservedPort.Source source) {
      ports = source;
      return this;
    }

    /**
     * Sets the number of members: 1 (the default) or 3.
     *
     * @throws IllegalArgumentException for any other number
     */
    public Builder members(int count) {
      if (count != 1 && count != 3) {
        throw new IllegalArgumentException("members " + count + " is wrong: expected 1 or 3");
      }
      members = count;
      return this;
    }

    /**
     * Sets a setting of all members.
     *
     * @param key full key as in conf/node.conf, for example {@code troupe.max-request-bytes}
     * @param value as in conf/node.conf, for example {@code 4 MiB}
     * @throws IllegalArgumentException if the key is no setting of a member, or one that the server
     *     determines (names, URLs, directories, TLS, logging)
     */
    public Builder setting(String key, String value) {
      MemberSettings.check(key);
      settings.put(key, value);
      return this;
    }

    /**
     * Sets the timeout of a start or restart, 60 s unless set.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder startTimeout(Duration timeout) {
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException("startTimeout " + timeout + " is wrong: expected > 0");
      }
      startTimeout = timeout;
      return this;
    }

    /**
     * Starts a server and returns it when all of its members are ready. This builder may be used
     * again for other servers.
     *
     * @throws TroupeServerException if it cannot start, for example because of an unknown setting;
     *     nothing is left of it then
     */
    public TroupeServer start() {
      return TroupeServer.start(this);
    }
  }
}
