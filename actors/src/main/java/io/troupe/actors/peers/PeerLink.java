package io.troupe.actors.peers;

import io.troupe.actors.peers.Frames.Frame;
import io.troupe.actors.peers.OutboundQueue.Outgoing;
import io.troupe.metrics.RateLimitedLogger;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.codec.GreetingCodec;
import io.troupe.version.VersionRules;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends messages of one channel to one member. Its thread opens a connection when there is
 * something to send, and again when the connection breaks; it ends when nothing was sent for a
 * while. A short message that waits for nothing is written by its sender, without waiting for the
 * other side; its thread writes all others. A member may have several addresses: after an attempt
 * that fails, or a connection that breaks soon, the next address is tried. While the other member
 * cannot be reached, messages are dropped: Raft and the query actor repeat what matters.
 * Thread-safe.
 */
final class PeerLink {
  private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);

  /** Interval of pings on an idle connection, and of pongs on a busy one. */
  static final Duration PING = Duration.ofMillis(500);

  /** Longest time without a pong on a working connection. */
  static final Duration BROKEN = Duration.ofSeconds(3);

  /** For TCP alone. Short, because a lost packet costs the whole attempt after an outage. */
  private static final Duration CONNECT = Duration.ofMillis(800);

  /**
   * For the greeting; the other member may look up the names of a certificate (TL2), and sends
   * pongs meanwhile.
   */
  private static final Duration GREET = Duration.ofSeconds(12);

  /** Without messages for so long the connection and the thread end. */
  private static final Duration UNUSED = Duration.ofMinutes(1);

  private static final long MIN_BACKOFF_MS = 50;
  private static final long MAX_BACKOFF_MS = 400;

  private static final int MAX_REPLY_BYTES = 4096;

  /** Longer messages are written by the link's thread. */
  private static final int SHORT_BYTES = 16 << 10;

  /** Opens connections of this member's links. */
  interface Connector {
    /**
     * Opens a connection, secured if members speak TLS, before any TLS handshake.
     *
     * @throws IOException if it cannot be opened
     */
    PeerSocket connect(PeerAddress to, Duration timeout) throws IOException;
  }

  private final Supplier<List<PeerAddress>> addresses;
  private final Supplier<PeerGreeting> greeting;
  private final Connector connector;
  private final OutboundQueue queue;
  private final IntConsumer dropped;
  private final Consumer<PeerGreeting.Reply> refused;
  private final RateLimitedLogger log;
  private final Object starting = new Object();

  /** The address of the current or next connection. Written by the link's thread. */
  private volatile PeerAddress to;

  private volatile @Nullable Thread thread;
  private volatile @Nullable PeerSocket socket;

  /** Held while a thread takes and writes messages, so that they stay in order. */
  private final ReentrantLock writing = new ReentrantLock();

  /** Writes to the current connection; null without one. */
  private volatile Frames.@Nullable Writer out;

  private volatile long lastMessageNanos;

  /**
   * A link without a connection.
   *
   * @param addresses of the other member, at least one; read before each connection
   * @param greeting first frame of each connection
   * @param dropped receives numbers of dropped messages; must not block
   * @param refused receives each reply of a member that refuses the connection and is not just
   *     starting, on the link's thread
   */
  PeerLink(
      Supplier<List<PeerAddress>> addresses,
      Supplier<PeerGreeting> greeting,
      Connector connector,
      OutboundQueue queue,
      IntConsumer dropped,
      Consumer<PeerGreeting.Reply> refused,
      RateLimitedLogger log) {
    this.addresses = addresses;
    this.to = addresses.get().get(0);
    this.greeting = greeting;
    this.connector = connector;
    this.queue = queue;
    this.dropped = dropped;
    this.refused = refused;
    this.log = log;
  }

  /** Bytes that wait. */
  long bytes() {
    return queue.bytes();
  }

  /**
   * Sends a message now or later; false if it was dropped for lack of space. Waits neither for the
   * other member nor for another thread.
   */
  boolean send(Outgoing message) {
    if (message.bytes() <= SHORT_BYTES && writeNow(message)) {
      return true;
    }
    if (!queue.offer(message)) {
      return false;
    }
    if (thread == null) {
      start();
    }
    return true;
  }

  /** Writes a message on the thread of its sender, if no other message is before it. */
  private boolean writeNow(Outgoing message) {
    if (out == null || !writing.tryLock()) {
      return false;
    }
    try {
      Frames.Writer writer = out;
      PeerSocket open = socket;
      if (writer == null || open == null || !queue.isIdle() || open.keepsBytes()) {
        return false;
      }
      lastMessageNanos = System.nanoTime();
      writer.send(message.kind(), message.encoder().get());
      if (open.keepsBytes()) {
        queue.wake();
      }
    } catch (IOException | RuntimeException failure) {
      // The message is lost as one in flight is; the link's thread ends the connection.
      LOG.debug("message to another member was not sent to={}", to, failure);
      out = null;
      dropped.accept(1);
      queue.wake();
    } finally {
      writing.unlock();
    }
    return true;
  }

  private void start() {
    synchronized (starting) {
      if (thread == null && !queue.isClosed()) {
        Thread started = new Thread(this::run, "peer-out-" + to.text());
        started.setDaemon(true);
        started.setUncaughtExceptionHandler(
            (failed, failure) -> LOG.error("a link to another member failed to={}", to, failure));
        try {
          started.start();
          thread = started;
        } catch (OutOfMemoryError noThread) {
          // The system has no thread left. The next message tries again.
          log.warn(
              "cannot send to another member, no thread for it;",
              String.valueOf(noThread.getMessage()));
        }
      }
    }
  }

  /** True while its thread runs. */
  boolean isRunning() {
    return thread != null;
  }

  /** Refuses messages from now on and ends once those that wait are sent. Does not wait. */
  void close() {
    queue.close();
  }

  /** Waits for the end after {@link #close}, then breaks the connection. */
  void awaitEnd(Duration timeout) throws InterruptedException {
    Thread running = thread;
    if (running == null) {
      return;
    }
    running.join(timeout.toMillis());
    PeerSocket open = socket;
    if (open != null) {
      open.close();
    }
    running.join(timeout.toMillis());
  }

  private void run() {
    try {
      long backoffMs = MIN_BACKOFF_MS;
      while (!mayStop()) {
        long connectedNanos = System.nanoTime();
        try {
          serve();
        } catch (IOException failure) {
          LOG.debug("connection to another member ended to={} reason={}", to, failure.toString());
          dropped.accept(queue.clear());
        }
        boolean held = System.nanoTime() - connectedNanos >= BROKEN.toNanos();
        backoffMs = held ? MIN_BACKOFF_MS : Math.min(2 * backoffMs, MAX_BACKOFF_MS);
        chooseAddress(!held);
        if (!queue.isClosed()) {
          queue.pause(
              Duration.ofMillis(
                      backoffMs / 2 + ThreadLocalRandom.current().nextLong(backoffMs / 2 + 1))
                  .toNanos());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (starting) {
        if (thread == Thread.currentThread()) {
          thread = null;
        }
      }
    }
  }

  /** Keeps the address, or takes the one after it, among those that the member has now. */
  private void chooseAddress(boolean next) {
    List<PeerAddress> all = addresses.get();
    int place = all.indexOf(to);
    PeerAddress chosen =
        all.get(place >= 0 && next ? (place + 1) % all.size() : Math.max(0, place));
    if (!chosen.equals(to)) {
      LOG.debug("next address of another member from={} to={}", to, chosen);
      to = chosen;
    }
  }

  /** Waits for something to send; true if the thread has ended. */
  private boolean mayStop() throws InterruptedException {
    if (queue.isEmpty()) {
      queue.awaitMessage(UNUSED.toNanos());
    }
    synchronized (starting) {
      if (!queue.isEmpty()) {
        return false;
      }
      // A message that is sent from now on starts a new thread.
      thread = null;
      return true;
    }
  }

  /** Runs one connection until it breaks or nothing is sent for {@link #UNUSED}. */
  private void serve() throws IOException, InterruptedException {
    try (PeerSocket open = connector.connect(to, CONNECT)) {
      socket = open;
      Frames.Writer writer = greet(open);
      open.onlyWaits(Thread.currentThread());
      Thread reader =
          new Thread(() -> readPongs(open), Thread.currentThread().getName() + "-pongs");
      reader.setDaemon(true);
      reader.start();
      lastMessageNanos = System.nanoTime();
      out = writer;
      try {
        write(writer, open);
      } finally {
        out = null;
        open.close();
        reader.join();
      }
    } finally {
      socket = null;
    }
  }

  private Frames.Writer greet(PeerSocket open) throws IOException {
    try {
      open.timeout(BROKEN);
      open.handshake();
      Frames.Writer out = new Frames.Writer(open.out());
      PeerGreeting mine = greeting.get();
      out.send(Frames.GREETING, GreetingCodec.encode(mine));
      PeerGreeting.Reply reply = reply(new Frames.Reader(open.in(), new Unlimited()));
      if (!reply.isAccepted()) {
        if (!reply.starting()) {
          log.warn(
              "another member refuses the connection of this one:",
              "member=" + to.text() + " reason=\"" + reply.reason() + '"');
          refused.accept(reply);
        }
        throw new IOException("refused: " + reply.reason());
      }
      requireExpected(mine, reply);
      return out;
    } catch (SSLException failure) {
      log.warn(
          "TLS connection to another member failed:",
          "member=" + to.text() + " reason=\"" + failure.getMessage() + '"');
      throw failure;
    }
  }

  private static PeerGreeting.Reply reply(Frames.Reader in) throws IOException {
    long startNanos = System.nanoTime();
    Frame frame = in.next(MAX_REPLY_BYTES);
    while (frame != null && frame.kind() == Frames.PONG) {
      if (System.nanoTime() - startNanos > GREET.toNanos()) {
        throw new SocketTimeoutException("no reply to the greeting");
      }
      frame = in.next(MAX_REPLY_BYTES);
    }
    if (frame == null || frame.kind() != Frames.GREETING_REPLY || frame.body() == null) {
      throw new EOFException("no reply to the greeting");
    }
    return GreetingCodec.decodeReply(frame.body());
  }

  private void requireExpected(PeerGreeting mine, PeerGreeting.Reply reply) throws IOException {
    if (!mine.to().equals(NodeId.NONE) && !mine.to().equals(reply.member())) {
      log.warn(
          "another member than the expected one listens at a peer URL;",
          "url-host="
              + to.host()
              + ":"
              + to.port()
              + " expected="
              + mine.to()
              + " found="
              + reply.member());
      throw new IOException("another member listens there");
    }
    String incompatible =
        mine.server() == null || mine.channel() == PeerChannel.QUERY
            ? null
            : VersionRules.refusePeer(mine.server(), reply.server());
    if (incompatible != null) {
      log.warn("no messages pass to another member: " + incompatible, "member=" + to.text());
      throw new IOException(incompatible);
    }
  }

  private void write(Frames.Writer writer, PeerSocket open)
      throws IOException, InterruptedException {
    while (true) {
      queue.awaitMessage(PING.toNanos());
      writing.lock();
      try {
        if (!writeWaiting(writer, open)) {
          out = null;
          return;
        }
      } finally {
        writing.unlock();
      }
    }
  }

  /** Writes what waits, or a ping; false at the end of the link or of its use. */
  private boolean writeWaiting(Frames.Writer writer, PeerSocket open) throws IOException {
    if (out == null || open.isClosed()) {
      throw new EOFException("the connection ended");
    }
    open.sendKept();
    List<Outgoing> batch = queue.take();
    long silentNanos = System.nanoTime() - lastMessageNanos;
    if (!batch.isEmpty()) {
      lastMessageNanos = System.nanoTime();
      write(batch, writer);
      if (queue.isEmpty()) {
        writer.flush();
      }
    } else if (queue.isClosed() || silentNanos >= UNUSED.toNanos()) {
      return false;
    } else if (silentNanos >= PING.toNanos()) {
      writer.send(Frames.PING);
    }
    return true;
  }

  private void write(List<Outgoing> batch, Frames.Writer out) throws IOException {
    int written = 0;
    try {
      for (Outgoing message : batch) {
        out.add(message.kind(), message.encoder().get());
        written++;
      }
    } finally {
      batch.forEach(queue::done);
      dropped.accept(batch.size() - written);
    }
  }

  /** Closes the connection if no pong comes. */
  private void readPongs(PeerSocket open) {
    try (open) {
      Frames.Reader in = new Frames.Reader(open.in(), new Unlimited());
      Frame frame = in.next(MAX_REPLY_BYTES);
      while (frame != null) {
        frame = in.next(MAX_REPLY_BYTES);
      }
    } catch (SocketTimeoutException silent) {
      LOG.debug("no pong of another member to={}", to);
    } catch (SSLException failure) {
      if (!open.isClosed()) {
        log.warn(
            "TLS connection to another member failed:",
            "member=" + to.text() + " reason=\"" + failure.getMessage() + '"');
      }
    } catch (IOException ended) {
      LOG.debug("connection to another member ended to={} reason={}", to, ended.toString());
    }
  }

  /** For short frames. */
  private static final class Unlimited implements Frames.Budget {
    @Override
    public boolean take(int bytes) {
      return true;
    }

    @Override
    public void release(int bytes) {
      // Nothing is counted.
    }

    @Override
    public void received() {
      // The socket has a timeout.
    }
  }
}
