package io.troupe.ctl.client;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call with requests and responses in both directions. At most {@link #AHEAD} responses wait for
 * the reader; flow control holds the others back at the server. Requests may come from any thread,
 * one thread reads.
 */
public final class BidiCall<Q, R> implements AutoCloseable {
  private static final int AHEAD = 16;

  /** Either a response or the end. */
  private record Item<R>(@Nullable R response, @Nullable Status end) {}

  private final ClientCall<Q, R> call;
  private final BlockingQueue<Item<R>> received = new LinkedBlockingQueue<>();

  BidiCall(ClientCall<Q, R> call) {
    this.call = call;
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(R message) {
            received.add(new Item<>(message, null));
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            received.add(new Item<>(null, status));
          }
        },
        new Metadata());
    call.request(AHEAD);
  }

  /** Sends a request. */
  public synchronized void send(Q request) {
    call.sendMessage(request);
  }

  /**
   * Waits for the next response.
   *
   * @param timeoutMs 0 or more
   * @return null if none arrives in time
   * @throws RpcException if the call has ended
   * @throws InterruptedException if the thread is interrupted
   */
  public @Nullable R next(long timeoutMs) throws InterruptedException {
    Item<R> item = received.poll(timeoutMs, TimeUnit.MILLISECONDS);
    if (item == null) {
      return null;
    }
    if (item.end() != null) {
      received.add(item);
      throw new RpcException(item.end());
    }
    call.request(1);
    return item.response();
  }

  @Override
  public void close() {
    call.cancel("the command ends", null);
  }
}
