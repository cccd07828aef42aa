package io.troupe.edge.connection;

import io.troupe.edge.engine.HttpLayer;
import io.troupe.model.MemoryBudget;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.scaladsl.model.ResponseEntity;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * State of one connection that its request handlers share with the stages that see its bytes
 * ({@link Http1TimeoutStage}, {@link Http2FrameInspector}). An HTTP/2 stream itself reports that
 * the client reset it once its response has started; before that only the frame inspector does.
 * Thread-safe.
 */
public final class ConnectionState {
  /** No stream: the request uses HTTP/1.1. */
  public static final int NO_STREAM = HttpLayer.NO_STREAM;

  /** The stage that sees the HTTP/2 frames. Thread-safe. */
  interface Streams {
    /**
     * Runs the action once when the client resets the stream, immediately if it is no longer open.
     */
    void whenReset(int stream, Runnable action);

    /** Removes the action of a stream. */
    public void forget(int stream);

    /** Closes the share with the stream, immediately if it is not open. */
    void holds(int stream, MemoryBudget.Share share);

    /** Whether any stream is open. */
    boolean hasOpen();

    /** False once the stream is reset, or its response has been sent whole. */
    boolean isOpen(int stream);
  }

  /** Requests whose response is not complete. */
  private final AtomicInteger open = new AtomicInteger();

  private final Set<Runnable> leaving = ConcurrentHashMap.newKeySet();

  /** Shares of calls over HTTP/1.1; those of HTTP/2 are closed with their streams. */
  private final Set<MemoryBudget.Share> shares = ConcurrentHashMap.newKeySet();

  private final MemoryBudget.Holder memory;
  private volatile boolean switched;
  private volatile boolean gone;
  private final @Nullable InetAddress address;
  private final AtomicLong movedBytes = new AtomicLong();
  private long checkedBytes;
  private long checkedHeld;
  private int slowChecks;
  private volatile long lastMovedNanos = System.nanoTime();
  private volatile @Nullable Consumer<String> closer;
  private volatile @Nullable String closing;
  private volatile boolean closed;
  private volatile @Nullable Streams streams;

  /**
   * Creates the state of a new connection without an address.
   *
   * @param memory what its calls hold
   */
  public ConnectionState(MemoryBudget.Holder memory) {
    this(memory, null);
  }

  /**
   * Creates the state of a new connection.
   *
   * @param memory what its calls hold
   * @param address of its client; null if it has none
   */
  ConnectionState(MemoryBudget.Holder memory, @Nullable InetAddress address) {
    this.memory = memory;
    this.address = address;
  }

  /** Address of the client; null over a unix socket. */
  @Nullable InetAddress address() {
    return address;
  }

  /**
   * Counts bytes from or to the client. Only {@link Http1TimeoutStage} calls this, on one thread.
   */
  void moved(int bytes) {
    movedBytes.lazySet(movedBytes.get() + bytes);
    lastMovedNanos = System.nanoTime();
  }

  /** Time of the last byte in either direction; initially the start of the connection. */
  long lastMovedNanos() {
    return lastMovedNanos;
  }

  /**
   * Checks the progress with what was held throughout the time since the last check. Called by one
   * thread.
   *
   * @param exempt a connection that holds at most this many bytes is never slow
   * @param part a connection that moves less than 1/part of what it holds is slow
   * @return checks in a row in which it was slow
   */
  int slowChecks(long exempt, int part) {
    long moved = movedBytes.get();
    long held = memory.held();
    long heldSince = Math.min(held, checkedHeld);
    boolean slow = heldSince > exempt && moved - checkedBytes < Math.max(exempt, heldSince / part);
    slowChecks = slow ? slowChecks + 1 : 0;
    checkedBytes = moved;
    checkedHeld = held;
    return slowChecks;
  }

  /** True while a call waits for its response, or the connection no longer carries requests. */
  boolean hasCalls() {
    Streams inspector = streams;
    return !isIdle() || (inspector != null && inspector.hasOpen());
  }

  /**
   * Sets the action that closes the connection; runs it immediately if {@link #close} was called
   * before.
   */
  void closedBy(Consumer<String> closer) {
    this.closer = closer;
    String wanted = closing;
    if (wanted != null) {
      closer.accept(wanted);
    }
  }

  /** Whether {@link #close} was called. */
  boolean isClosing() {
    return closing != null;
  }

  /**
   * Closes the connection asynchronously.
   *
   * @param reason what the client did
   */
  void close(String reason) {
    closing = reason;
    Consumer<String> known = closer;
    if (known != null) {
      known.accept(reason);
    }
  }

  /** The memory that all its calls hold. */
  public MemoryBudget.Holder memory() {
    return memory;
  }

  /**
   * Opens the share of a call, which counts until its response is sent: over HTTP/2 until the end
   * of its stream, over HTTP/1.1 until {@link #sent}, and never longer than the connection.
   *
   * @param stream of the request
   */
  public MemoryBudget.Share share(int stream) {
    MemoryBudget.Share share = memory.share();
    Streams inspector = streams;
    if (stream != NO_STREAM && inspector != null) {
      inspector.holds(stream, share);
      return share;
    }
    shares.add(share);
    if (closed) {
      sent(share);
    }
    return share;
  }

  /**
   * The response of a gRPC call is built. Over HTTP/1.1, where its end cannot be seen, the share is
   * released now.
   */
  public void made(MemoryBudget.Share share) {
    sent(share);
  }

  /**
   * The response of a call over HTTP/1.1 is sent; over HTTP/2 the end of the stream releases the
   * share.
   */
  public void sent(MemoryBudget.Share share) {
    if (shares.remove(share)) {
      share.close();
    }
  }

  /** The connection is closed. */
  void closed() {
    closed = true;
    gone();
    shares.forEach(this::sent);
  }

  /** Counts a request as open until its response is complete, including its body. */
  CompletionStage<HttpResponse> countOpen(CompletionStage<HttpResponse> response) {
    open.incrementAndGet();
    return response.handle(
        (made, failure) -> {
          if (failure != null) {
            open.decrementAndGet();
            throw new CompletionException(failure);
          }
          return counted(made);
        });
  }

  private HttpResponse counted(HttpResponse response) {
    if (response.status().equals(StatusCodes.SWITCHING_PROTOCOLS)) {
      switched = true;
    }
    if (response.entity().isStrict() || response.entity().isKnownEmpty()) {
      open.decrementAndGet();
      return response;
    }
    Flow<ByteString, ByteString, NotUsed> whole =
        Flow.<ByteString>create()
            .watchTermination(
                (before, ended) -> {
                  ended.whenComplete((done, failure) -> open.decrementAndGet());
                  return before;
                });
    // Only the Scala API has this method.
    ResponseEntity body = (ResponseEntity) response.entity();
    return response.withEntity(body.transformDataBytes(watched(whole)));
  }

  @SuppressWarnings("unchecked")
  private static org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, Object> watched(
      Flow<ByteString, ByteString, NotUsed> flow) {
    return (org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, Object>)
        (org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, ?>) flow.asScala();
  }

  /** True while no request waits for its response and the connection carries requests. */
  boolean isIdle() {
    return open.get() == 0 && !switched;
  }

  /** True once the connection carries another protocol than requests and responses. */
  boolean isSwitched() {
    return switched;
  }

  /**
   * Sets the stage that sees its frames, if the port serves HTTP/2; called before any of its
   * requests.
   */
  void seenBy(Streams inspector) {
    streams = inspector;
  }

  /**
   * Runs the action once when the client cancels the request: it disconnects or resets the stream.
   * Runs it immediately if that has happened. Call {@link #forget} when the action is obsolete.
   *
   * @param stream of the request; each has at most one action
   */
  public void whenGone(int stream, Runnable action) {
    leaving.add(action);
    Streams inspector = streams;
    if (gone) {
      run(action);
    } else if (stream != NO_STREAM && inspector != null) {
      inspector.whenReset(stream, () -> run(action));
    }
  }

  /**
   * Whether the client of a request still waits for its response, as far as the stages know.
   *
   * @param stream of the request
   */
  public boolean awaits(int stream) {
    Streams inspector = streams;
    return stream == NO_STREAM ? !gone : inspector == null || inspector.isOpen(stream);
  }

  /** Removes an obsolete action. */
  public void forget(int stream, Runnable action) {
    leaving.remove(action);
    Streams inspector = streams;
    if (stream != NO_STREAM && inspector != null) {
      inspector.forget(stream);
    }
  }

  /** The client sends no more bytes: over HTTP/1.1 this cancels the calls that it waits for. */
  void gone() {
    gone = true;
    leaving.forEach(this::run);
  }

  private void run(Runnable action) {
    if (leaving.remove(action)) {
      action.run();
    }
  }
}
