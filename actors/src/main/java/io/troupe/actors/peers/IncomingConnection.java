package io.troupe.actors.peers;

import io.troupe.actors.peers.Frames.BadFrameException;
import io.troupe.actors.peers.Frames.Frame;
import io.troupe.metrics.RateLimitedLogger;
import io.troupe.model.Bytes;
import io.troupe.model.EtcdVersion;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.codec.GreetingCodec;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.protocol.codec.QueryCodec;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that another process opened to the peer port, on a thread of its own: TLS, the
 * greeting, then its messages, which it passes to the receiver in order. A process that sends
 * anything else loses the connection. The pongs tell the other side that this one is alive.
 */
final class IncomingConnection implements Runnable, PeerConnections.Connection, Frames.Budget {
  private static final Logger LOG = LoggerFactory.getLogger(IncomingConnection.class);

  /** What a refused member sends before it reads the alert: one greeting. */
  private static final int MAX_REFUSED_BYTES = 64 << 10;

  /** etcd's text. */
  private static final String REJECTED = "rejected connection on peer endpoint";

  /** For the TLS handshake and the greeting together (TL4). */
  static final Duration FIRST_FRAME = Duration.ofSeconds(10);

  private static final int MAX_GREETING_BYTES = 4096;

  /** First bytes of TLS, read as the length of a frame. */
  private static final int TLS_MAGIC = 0x160300;

  /** What a connection needs of its network. */
  interface Port {
    /** Connections and their memory. */
    PeerConnections connections();

    /** The receiver of a channel; null while the member does not serve it yet. */
    @Nullable PeerReceiver receiver(PeerChannel channel);

    /** TLS between members; null if there is none. */
    @Nullable PeerTls tls();

    /** Address of this member's own peer URL. */
    PeerAddress self();

    /** Version of etcd's API that this member serves. */
    EtcdVersion server();

    /** A process at that address, null for a unix socket, sent a valid greeting. */
    void memberSpoke(@Nullable InetAddress from);
  }

  private final PeerSocket socket;
  private final Port port;
  private final RateLimitedLogger log;
  private final Frames.Reader in;
  private final Frames.Writer out;
  private volatile long heardNanos = System.nanoTime();
  private volatile int heldBytes;
  private volatile Rank rank = Rank.NO_GREETING;
  private boolean released;
  private long pongNanos = System.nanoTime();

  /** A connection that was accepted just now. */
  IncomingConnection(PeerSocket socket, Port port, RateLimitedLogger log) throws IOException {
    this.out = new Frames.Writer(socket.out());
    this.socket = socket;
    this.port = port;
    this.log = log;
    this.in = new Frames.Reader(socket.in(), this);
  }

  /** Ends the connection if its greeting has not come yet: called {@link #FIRST_FRAME} after. */
  void expire() {
    if (rank == Rank.NO_GREETING && !socket.isClosed()) {
      log.warn("connection to the peer port ended: no greeting came for 10 s", "");
      end();
    }
  }

  @Override
  public void run() {
    try (socket) {
      if (secure()) {
        PeerGreeting greeting = greet();
        if (greeting != null) {
          serve(greeting);
        }
      }
    } catch (BadFrameException bad) {
      log.warn("connection to the peer port ended:", "reason=\"" + bad.getMessage() + '"');
    } catch (IOException ended) {
      LOG.debug(
          "connection of another member ended remote-addr={} reason={}",
          socket.remoteText(),
          ended.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      release();
      port.connections().leave(this);
    }
  }

  /** Runs the TLS handshake and checks the address of the certificate. */
  private boolean secure() throws IOException, InterruptedException {
    PeerTls tls = port.tls();
    if (tls == null) {
      return true;
    }
    try {
      socket.handshake();
    } catch (SSLException failure) {
      if (!socket.isClosed()) {
        log.warn(
            REJECTED + " in the TLS handshake",
            REJECTED,
            "remote-addr=" + socket.remoteText() + " error=\"" + failure.getMessage() + '"');
        // Ends with FIRST_FRAME at the latest, as without a greeting.
        socket.drain(MAX_REFUSED_BYTES);
      }
      return false;
    }
    try {
      awaitCheck(tls.checkAddress(session(), socket.remote()).toCompletableFuture());
      return true;
    } catch (ExecutionException refused) {
      log.warn(
          REJECTED,
          "remote-addr="
              + socket.remoteText()
              + " error=\""
              + String.valueOf(
                  refused.getCause() == null ? refused : refused.getCause().getMessage())
              + '"');
      return false;
    }
  }

  /** Waits for the check of the address, at most until {@link #expire}; sends pongs meanwhile. */
  private void awaitCheck(CompletableFuture<Void> check)
      throws IOException, InterruptedException, ExecutionException {
    while (true) {
      try {
        check.get(PeerLink.PING.toMillis(), TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException waits) {
        out.send(Frames.PONG);
      }
    }
  }

  private SSLSession session() throws SSLException {
    SSLSession session = socket.session();
    if (session == null) {
      throw new SSLException("no TLS session");
    }
    return session;
  }

  private @Nullable PeerGreeting greet() throws IOException {
    Frame frame;
    try {
      frame = in.next(MAX_GREETING_BYTES);
    } catch (BadFrameException bad) {
      if ((bad.length() >>> 8 & 0xffff00) == TLS_MAGIC && port.tls() == null) {
        log.warn(
            "rejected TLS connection on plaintext peer port;",
            "use https in all peer URLs or in none");
      } else {
        log.warn("connection to the peer port ended: it is no member's", "");
      }
      return null;
    }
    if (frame == null) {
      return null;
    }
    if (frame.kind() != Frames.GREETING || frame.body() == null) {
      log.warn("connection to the peer port ended: it is no member's", "");
      return null;
    }
    PeerGreeting greeting;
    try {
      greeting = GreetingCodec.decode(frame.body());
    } catch (IOException unreadable) {
      log.warn(
          "connection to the peer port ended: its greeting cannot be read:",
          String.valueOf(unreadable.getMessage()));
      return null;
    }
    return answer(greeting) ? greeting : null;
  }

  private boolean answer(PeerGreeting greeting) throws IOException {
    PeerReceiver receiver = port.receiver(greeting.channel());
    if (receiver == null) {
      send(PeerGreeting.Reply.notReady());
      return false;
    }
    String refusal = refusal(greeting, receiver);
    if (refusal != null) {
      log.warn(
          "connection of another member refused: " + refusal,
          "remote-addr=" + socket.remoteText() + " remote-peer-id=" + greeting.from());
      PeerGreeting.Reply mine = receiver.reply(0);
      send(PeerGreeting.Reply.refused(mine.clusterId(), mine.member(), refusal));
      return false;
    }
    port.memberSpoke(socket.remote());
    rank = receiver.urlsOf(greeting.from()).isEmpty() ? Rank.NO_MEMBER : Rank.MEMBER;
    send(receiver.reply(GreetingRules.version(greeting)));
    return true;
  }

  private void send(PeerGreeting.Reply reply) throws IOException {
    out.send(Frames.GREETING_REPLY, GreetingCodec.encode(reply.of(port.server())));
  }

  private @Nullable String refusal(PeerGreeting greeting, PeerReceiver receiver)
      throws IOException {
    PeerTls tls = port.tls();
    String refusal = GreetingRules.refusal(greeting, port.self(), tls != null, port.server());
    if (refusal == null
        && tls != null
        && tls.bindsMembers()
        && !GreetingRules.isOwn(greeting, receiver.urlsOf(greeting.from()), tls, session())) {
      refusal = "its certificate is not for the member that it names";
    }
    return refusal == null ? receiver.refusal(greeting) : refusal;
  }

  private void serve(PeerGreeting greeting) throws IOException {
    boolean queries = greeting.channel() == PeerChannel.QUERY;
    int most = queries ? PeerLimits.MAX_QUERY_BYTES : PeerLimits.MAX_MESSAGE_BYTES;
    for (Frame frame = in.next(most); frame != null; frame = in.next(most)) {
      boolean known =
          switch (frame.kind()) {
            case Frames.PING -> true;
            case Frames.MESSAGE -> !queries;
            case Frames.QUERY, Frames.QUERY_REPLY -> queries;
            default -> false;
          };
      if (!known) {
        throw new BadFrameException("a frame of kind " + frame.kind());
      }
      if (frame.kind() == Frames.PING) {
        pong();
        continue;
      }
      PeerReceiver receiver = port.receiver(greeting.channel());
      if (receiver != null) {
        pass(greeting, frame, receiver);
      }
    }
  }

  private void pass(PeerGreeting greeting, Frame frame, PeerReceiver receiver) {
    Bytes body = frame.body();
    if (body == null) {
      log.warn(
          "dropped a message of another member, too much is incomplete on the peer port;",
          "remote-peer-id=" + greeting.from());
      return;
    }
    try {
      if (frame.kind() == Frames.MESSAGE) {
        receiver.message(greeting, PeerCodec.decode(body), body.length());
      } else {
        QueryFrame query =
            frame.kind() == Frames.QUERY
                ? QueryCodec.decodeQuery(body)
                : QueryCodec.decodeReply(body);
        receiver.query(greeting, query);
      }
    } catch (IOException unreadable) {
      receiver.unreadable(greeting, String.valueOf(unreadable.getMessage()));
    }
  }

  private void pong() throws IOException {
    pongNanos = System.nanoTime();
    out.send(Frames.PONG);
  }

  @Override
  public void received() throws IOException {
    heardNanos = System.nanoTime();
    if (rank != Rank.NO_GREETING && heardNanos - pongNanos >= PeerLink.PING.toNanos()) {
      pong();
    }
  }

  @Override
  public boolean take(int bytes) {
    if (!port.connections().take(this, bytes)) {
      return false;
    }
    return count(bytes);
  }

  @Override
  public void release(int bytes) {
    count(-bytes);
  }

  private synchronized boolean count(int change) {
    if (released) {
      if (change > 0) {
        port.connections().release(change);
      }
      return false;
    }
    heldBytes += change;
    if (change < 0) {
      port.connections().release(-change);
    }
    return true;
  }

  private synchronized void release() {
    if (!released) {
      released = true;
      port.connections().release(heldBytes);
      heldBytes = 0;
    }
  }

  @Override
  public Rank rank() {
    return rank;
  }

  @Override
  public long heardNanos() {
    return heardNanos;
  }

  @Override
  public int heldBytes() {
    return heldBytes;
  }

  @Override
  public void end() {
    release();
    socket.close();
  }
}
