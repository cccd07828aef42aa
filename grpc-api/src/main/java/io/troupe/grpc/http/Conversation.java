package io.troupe.grpc.http;

import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.scaladsl.model.ResponseEntity;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * What those who answer the requests of a connection and those that see its bytes ({@link
 * ConversationGuard}, {@link FrameGuard}) tell each other. In HTTP/2 a stream tells of its end by
 * itself once its answer has begun, before that nobody but the guard does. Thread-safe.
 */
final class Conversation {
  /** No stream: the request came over HTTP/1.1. */
  static final int NO_STREAM = 0;

  /** Who sees the frames of HTTP/2. Thread-safe. */
  interface Streams {
    /** Runs it once when the client resets the stream; at once if it is open no more. */
    void whenReset(int stream, Runnable action);

    /** What was to be run then is not wanted any more. */
    void forget(int stream);

    /** False once the stream is reset, or its response has been sent whole. */
    boolean isOpen(int stream);
  }

  /** Requests that have no whole answer yet. */
  private final AtomicInteger open = new AtomicInteger();

  private final Set<Runnable> leaving = ConcurrentHashMap.newKeySet();
  private volatile boolean switched;
  private volatile boolean gone;
  private volatile @Nullable Streams streams;

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
    if (response.entity().isStrict()) {
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
