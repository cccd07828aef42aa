package io.troupe.ctl.command;

import io.troupe.ctl.client.BidiCall;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseRevokeRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A lease that is renewed while a lock or an election is held. */
final class LeaseSession implements AutoCloseable {
  private static final long RETRY_MS = 500;

  private final EtcdClient client;
  private final long id;
  private final long ttlSeconds;
  private final CompletableFuture<Boolean> expired = new CompletableFuture<>();
  private volatile boolean closed;

  private LeaseSession(EtcdClient client, long id, long ttlSeconds) {
    this.client = client;
    this.id = id;
    this.ttlSeconds = ttlSeconds;
  }

  /** Grants a lease and renews it in the background. */
  static LeaseSession start(EtcdClient client, long ttlSeconds) {
    var lease =
        client.call(
            EtcdMethods.LEASE_GRANT, LeaseGrantRequest.newBuilder().setTTL(ttlSeconds).build());
    LeaseSession session = new LeaseSession(client, lease.getID(), lease.getTTL());
    Session.THREADS.execute(session::renew);
    return session;
  }

  long id() {
    return id;
  }

  /** Waits until the lease has expired or was revoked. */
  void awaitEnd() {
    var unused = expired.join();
  }

  /** Renews until the lease is gone or was not renewed for its time. */
  private void renew() {
    long renewed = System.nanoTime();
    try {
      while (!closed) {
        try (BidiCall<LeaseKeepAliveRequest, LeaseKeepAliveResponse> call =
            client.open(EtcdMethods.LEASE_KEEP_ALIVE, false)) {
          while (!closed) {
            call.send(LeaseKeepAliveRequest.newBuilder().setID(id).build());
            LeaseKeepAliveResponse response = call.next(ttlSeconds * 1000);
            if (response == null || response.getTTL() <= 0) {
              expired.complete(true);
              return;
            }
            renewed = System.nanoTime();
            TimeUnit.MILLISECONDS.sleep(ttlSeconds * 1000 / 3);
          }
        } catch (RpcException e) {
          if (System.nanoTime() - renewed > TimeUnit.SECONDS.toNanos(ttlSeconds)) {
            expired.complete(true);
            return;
          }
          TimeUnit.MILLISECONDS.sleep(RETRY_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Revokes the lease, which deletes its keys. */
  @Override
  public void close() {
    closed = true;
    try {
      var unused =
          client.call(EtcdMethods.LEASE_REVOKE, LeaseRevokeRequest.newBuilder().setID(id).build());
    } catch (RpcException e) {
      // The lease expires by itself.
      expired.complete(true);
    }
  }
}
