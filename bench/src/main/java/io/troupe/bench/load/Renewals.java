package io.troupe.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Renews many leases at once, over one stream. */
final class Renewals extends ClientCall.Listener<Reply> {
  private static final long TIMEOUT_SECONDS = 60;

  private final int total;
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  private int renewed;

  private Renewals(int total) {
    this.total = total;
  }

  /**
   * Renews the leases {@code first} to {@code first + total - 1}.
   *
   * @return nanoseconds from the first request to the last response
   * @throws IllegalStateException if a lease does not exist
   */
  static long run(Connections connections, long first, int total) {
    Renewals renewals = new Renewals(total);
    long started = System.nanoTime();
    ClientCall<byte[], Reply> call = connections.start(0, EtcdMethod.LEASE_KEEP_ALIVE, renewals);
    call.request(Integer.MAX_VALUE);
    for (int i = 0; i < total; i++) {
      call.sendMessage(LeaseKeepAliveRequest.newBuilder().setID(first + i).build().toByteArray());
    }
    try {
      renewals.done.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      return System.nanoTime() - started;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted during renewals", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("renewal of " + total + " leases: " + e, e);
    } finally {
      call.cancel("done", null);
    }
  }

  @Override
  public void onMessage(Reply message) {
    try {
      LeaseKeepAliveResponse response = LeaseKeepAliveResponse.parseFrom(message.body());
      if (response.getTTL() <= 0) {
        done.completeExceptionally(
            new IllegalStateException("lease " + response.getID() + " has expired"));
      }
    } catch (InvalidProtocolBufferException e) {
      done.completeExceptionally(e);
    }
    renewed++;
    if (renewed == total) {
      done.complete(null);
    }
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    done.completeExceptionally(status.asRuntimeException());
  }
}
