package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchRequest;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A watcher that waits until a number of keys are deleted. */
final class Deletions extends ClientCall.Listener<Reply>
    implements WatchEvents.Receiver, AutoCloseable {
  private final int total;
  private final ClientCall<byte[], Reply> call;
  private final CompletableFuture<Void> created = new CompletableFuture<>();
  private final CompletableFuture<Long> first = new CompletableFuture<>();
  private final CompletableFuture<Long> last = new CompletableFuture<>();
  private int seen;

  private Deletions(Connections connections, int total) {
    this.total = total;
    this.call = connections.start(0, EtcdMethod.WATCH, this);
  }

  /**
   * Starts to watch.
   *
   * @param prefix of the keys, each of which is deleted once
   * @param total number of keys
   * @throws IllegalStateException if the server does not create the watcher
   */
  static Deletions of(Connections connections, ByteString prefix, int total) {
    Deletions watcher = new Deletions(connections, total);
    watcher.call.request(Integer.MAX_VALUE);
    watcher.call.sendMessage(
        WatchRequest.newBuilder()
            .setCreateRequest(
                WatchCreateRequest.newBuilder()
                    .setKey(prefix)
                    .setRangeEnd(Calls.afterPrefix(prefix))
                    .addFilters(WatchCreateRequest.FilterType.NOPUT))
            .build()
            .toByteArray());
    watcher.await(watcher.created, 60);
    return watcher;
  }

  /** Waits for the first deletion; returns its time, as of {@link System#nanoTime}. */
  long awaitFirst(long timeoutSeconds) {
    return await(first, timeoutSeconds);
  }

  /** Waits for the last deletion; returns its time, as of {@link System#nanoTime}. */
  long awaitLast(long timeoutSeconds) {
    return await(last, timeoutSeconds);
  }

  private <T> T await(CompletableFuture<T> future, long timeoutSeconds) {
    try {
      return future.get(timeoutSeconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted during a watch", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("watch of " + total + " deletions: " + e, e);
    }
  }

  @Override
  public void onMessage(Reply message) {
    try {
      WatchEvents.read(message.body(), this);
    } catch (IOException e) {
      fail(e);
    }
  }

  @Override
  public void event(WatchEvents.Event event) {
    long now = System.nanoTime();
    seen++;
    first.complete(now);
    if (!event.deletion()) {
      fail(new IOException("a put, which the filter excludes"));
    }
    if (seen == total) {
      last.complete(now);
    }
  }

  @Override
  public void created() {
    created.complete(null);
  }

  @Override
  public void canceled() {
    fail(new IOException("the server canceled the watcher"));
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    fail(status.asRuntimeException());
  }

  private void fail(Exception failure) {
    created.completeExceptionally(failure);
    first.completeExceptionally(failure);
    last.completeExceptionally(failure);
  }

  @Override
  public void close() {
    call.cancel("done", null);
  }
}
