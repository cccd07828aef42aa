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

/**
 * What those who answer the requests of a connection and the one that sees its bytes ({@link
 * ConversationGuard}) tell each other. Only HTTP/1.1 needs it: in HTTP/2 each stream tells of
 * itself. Thread-safe.
 */
final class Conversation {
  /** Requests that have no whole answer yet. */
  private final AtomicInteger open = new AtomicInteger();

  private final Set<Runnable> leaving = ConcurrentHashMap.newKeySet();
  private volatile boolean switched;
  private volatile boolean gone;

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

  /** Runs it when the client leaves, at once if it has left; {@link #forget} it when it is late. */
  void whenGone(Runnable action) {
    leaving.add(action);
    if (gone) {
      run(action);
    }
  }

  /** An action is not wanted any more. */
  void forget(Runnable action) {
    leaving.remove(action);
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
