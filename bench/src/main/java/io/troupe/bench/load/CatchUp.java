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

/** A watcher that starts in the past and reads the history up to a revision. */
final class CatchUp extends ClientCall.Listener<Reply> implements WatchEvents.Receiver {
  private static final long TIMEOUT_MINUTES = 60;

  private final long until;
  private final CompletableFuture<Long> done = new CompletableFuture<>();
  private long last;
  private long events;

  private CatchUp(long from, long until) {
    this.last = from - 1;
    this.until = until;
  }

  /**
   * Reads the events of all keys with a prefix.
   *
   * @param from first revision
   * @param until last revision, which changed a key with this prefix
   * @return events from {@code from} to {@code until}
   * @throws IllegalStateException if events are out of order, or the watcher ends
   */
  static long run(Connections connections, ByteString prefix, long from, long until) {
    CatchUp watcher = new CatchUp(from, until);
    ClientCall<byte[], Reply> call = connections.start(0, EtcdMethod.WATCH, watcher);
    call.request(Integer.MAX_VALUE);
    call.sendMessage(
        WatchRequest.newBuilder()
            .setCreateRequest(
                WatchCreateRequest.newBuilder()
                    .setKey(prefix)
                    .setRangeEnd(Calls.afterPrefix(prefix))
                    .setStartRevision(from))
            .build()
            .toByteArray());
    try {
      return watcher.done.get(TIMEOUT_MINUTES, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted during a watch", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("watch from revision " + from + ": " + e, e);
    } finally {
      call.cancel("done", null);
    }
  }

  @Override
  public void onMessage(Reply message) {
    try {
      WatchEvents.read(message.body(), this);
    } catch (IOException e) {
      done.completeExceptionally(e);
    }
  }

  @Override
  public void event(WatchEvents.Event event) {
    if (event.modRevision() < last) {
      done.completeExceptionally(
          new IOException("revision " + event.modRevision() + " after " + last));
    }
    last = event.modRevision();
    if (last <= until) {
      events++;
    }
    if (last >= until) {
      done.complete(events);
    }
  }

  @Override
  public void created() {}

  @Override
  public void canceled() {
    done.completeExceptionally(new IOException("the server canceled the watcher"));
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    done.completeExceptionally(status.asRuntimeException());
  }
}
