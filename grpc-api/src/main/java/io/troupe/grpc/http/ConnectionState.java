package io.troupe.grpc.http;

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
 * What those who answer the requests of a connection and those that see its bytes ({@link
 * Http1TimeoutStage}, {@link Http2FrameInspector}) tell each other. In HTTP/2 a stream tells of its end by
 * itself once its answer has begun, before that nobody but the guard does. Thread-safe.
 */
final class ConnectionState {
  /** No stream: the request came over HTTP/1.1. */
  static final int NO_STREAM = 0;

  /** Who sees the frames of HTTP/2. Thread-safe. */
  interface Streams {
    /** Runs it once when the client resets the stream; at once if it is open no more. */
    void whenReset(int stream, Runnable action);

    /** What was to be run then is not wanted any more. */
    void forget(int stream);

    /** Closes the share with the stream; at once if it is not open. */
    void holds(int stream, MemoryBudget.Share share);

    /** Whether any stream is open. */
    boolean hasOpen();

    /** False once the stream is reset, or its response has been sent whole. */
    boolean isOpen(int stream);
  }

  /** Requests that have no whole answer yet. */
  private final AtomicInteger open = new AtomicInteger();

  private final Set<Runnable> leaving = ConcurrentHashMap.newKeySet();

  /** Of calls over HTTP/1.1; those of HTTP/2 are closed with their streams. */
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
   * Of a connection that begins.
   *
   * @param memory what its calls hold
   */
  ConnectionState(MemoryBudget.Holder memory) {
    this(memory, null);
  }

  /**
   * Of a connection that begins.
   *
   * @param memory what its calls hold
   * @param address of its client; null if that has none
   */
  ConnectionState(MemoryBudget.Holder memory, @Nullable InetAddress address) {
    this.memory = memory;
    this.address = address;
  }

  /** Of the client; null over a unix socket. */
  @Nullable InetAddress address() {
    return address;
  }

  /** Bytes came from the client or went to it. Only the guard calls this, on one thread. */
  void moved(int bytes) {
    movedBytes.lazySet(movedBytes.get() + bytes);
    lastMovedNanos = System.nanoTime();
  }

  /** When bytes came or went last; at first the beginning. */
  long lastMovedNanos() {
    return lastMovedNanos;
  }

  /**
   * Checks progress with what was held all the time since the last check; one thread.
   *
   * @param exempt who holds no more than that is never slow
   * @param part who moves less than this part of it is slow
   * @return checks in a row in which it was
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

  /** True while a call waits for its response, or the connection is no more one of requests. */
  boolean hasCalls() {
    Streams guard = streams;
    return !isIdle() || (guard != null && guard.hasOpen());
  }

  /** Who can close the connection; told its reason at once if that is wanted already. */
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
   * Closes the connection, soon.
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

  /** What its calls hold, all together. */
  MemoryBudget.Holder memory() {
    return memory;
  }

  /**
   * What a call holds, from now on until its response is sent: over HTTP/2 to the end of its
   * stream, over HTTP/1.1 until {@link #sent}, and never longer than the connection.
   *
   * @param stream of the request
   */
  MemoryBudget.Share share(int stream) {
    MemoryBudget.Share share = memory.share();
    Streams guard = streams;
    if (stream != NO_STREAM && guard != null) {
      guard.holds(stream, share);
      return share;
    }
    shares.add(share);
    if (closed) {
      sent(share);
    }
    return share;
  }

  /**
   * The response of a call of gRPC is made. Where its end cannot be seen, over HTTP/1.1, nothing is
   * counted any more.
   */
  void made(MemoryBudget.Share share) {
    sent(share);
  }

  /** The response of a call over HTTP/1.1 is sent; over HTTP/2 that is known by itself. */
  void sent(MemoryBudget.Share share) {
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

  /** Counts a request as open until its answer is made, to the end of its body. */
  CompletionStage<HttpResponse> answering(CompletionStage<HttpResponse> answer) {
    open.incrementAndGet();
    return answer.handle(
        (response, failure) -> {
          if (failure != null) {
            open.decrementAndGet();
            throw new CompletionException(failure);
          }
          return answered(response);
        });
  }

  private HttpResponse answered(HttpResponse response) {
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
    // Only the Scala API has it.
    ResponseEntity body = (ResponseEntity) response.entity();
    return response.withEntity(body.transformDataBytes(watched(whole)));
  }

  @SuppressWarnings("unchecked")
  private static org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, Object> watched(
      Flow<ByteString, ByteString, NotUsed> flow) {
    return (org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, Object>)
        (org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, ?>) flow.asScala();
  }

  /** True while no request waits for its answer, and the connection is one of requests. */
  boolean isIdle() {
    return open.get() == 0 && !switched;
  }

  /** True once something else than requests and answers goes over the connection. */
  boolean isSwitched() {
    return switched;
  }

  /** Who sees its frames, if HTTP/2 may be spoken; told before any of its requests. */
  void seenBy(Streams guard) {
    streams = guard;
  }

  /**
   * Runs it once when the client of a request gives it up: leaves, or resets its stream. At once if
   * it has. {@link #forget} it when it is late.
   *
   * @param stream of the request; each has one action at most
   */
  void whenGone(int stream, Runnable action) {
    leaving.add(action);
    Streams guard = streams;
    if (gone) {
      run(action);
    } else if (stream != NO_STREAM && guard != null) {
      guard.whenReset(stream, () -> run(action));
    }
  }

  /**
   * Whether the client of a request still waits for its response, as far as the guards know.
   *
   * @param stream of the request
   */
  boolean awaits(int stream) {
    Streams guard = streams;
    return stream == NO_STREAM ? !gone : guard == null || guard.isOpen(stream);
  }

  /** An action is not wanted any more. */
  void forget(int stream, Runnable action) {
    leaving.remove(action);
    Streams guard = streams;
    if (stream != NO_STREAM && guard != null) {
      guard.forget(stream);
    }
  }

  /** The client sends nothing any more: over HTTP/1.1 it has given up what it waits for. */
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
