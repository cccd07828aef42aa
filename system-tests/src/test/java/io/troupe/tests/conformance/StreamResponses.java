package io.troupe.tests.conformance;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Collects the responses of a stream in order, and its status. */
final class StreamResponses<R> implements StreamObserver<R> {
  private static final long PATIENCE_SECONDS = 20;

  private final BlockingQueue<R> answers = new LinkedBlockingQueue<>();
  private final CompletableFuture<Status> end = new CompletableFuture<>();

  @Override
  public void onNext(R answer) {
    answers.add(answer);
  }

  @Override
  public void onError(Throwable failure) {
    end.complete(Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    end.complete(Status.OK);
  }

  /** Waits for the next response. */
  R next() {
    try {
      R answer = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (answer == null) {
        throw new AssertionError("no answer came; stream ended: " + end);
      }
      return answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** The received responses; does not wait. */
  Optional<R> poll() {
    return Optional.ofNullable(answers.poll());
  }

  /** Waits for the status of the stream. */
  Status end() {
    try {
      return end.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new AssertionError("the stream did not end", e);
    }
  }
}
