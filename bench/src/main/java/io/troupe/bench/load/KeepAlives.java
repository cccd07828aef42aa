package io.troupe.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.bench.report.Cell;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseRevokeRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Clients that each hold a lease and a keep-alive stream, and send the next renewal when the
 * response has arrived.
 */
final class KeepAlives {
  private static final long TTL_SECONDS = 600;
  private static final long CALL_TIMEOUT_MS = 10_000;

  private final Window window;
  private final List<Recorder> recorders;
  private final CountDownLatch running;

  private KeepAlives(Window window, int connections, int clients) {
    this.window = window;
    this.recorders = Recorder.list(connections);
    this.running = new CountDownLatch(clients);
  }

  static Cell measure(Target target, int clients) {
    try (Connections connections = target.connect(clients)) {
      List<Long> leases = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        leases.add(Calls.grant(connections, TTL_SECONDS));
      }
      Cell cell = measure(target, connections, leases);
      leases.forEach(id -> revoke(connections, id));
      return cell;
    }
  }

  private static Cell measure(Target target, Connections connections, List<Long> leases) {
    target.awaitQuiet();
    Window window = Window.after(target.settings().warmUp(), target.settings().duration());
    KeepAlives load = new KeepAlives(window, connections.count(), leases.size());
    for (int i = 0; i < leases.size(); i++) {
      load.open(connections, i % connections.count(), leases.get(i));
    }
    Window.waitUntil(window.from());
    Meter.Sample begin = target.meter().sample();
    Window.waitUntil(window.until());
    Meter.Sample end = target.meter().sample();
    try {
      if (!load.running.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            load.running.getCount() + " keep-alive streams received no response");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    long operations = Recorder.merged(load.recorders).getTotalCount();
    return target
        .meter()
        .cell(
            "lease-keep-alive",
            Loads.clients(leases.size()),
            operations,
            load.recorders,
            begin,
            end);
  }

  private static void revoke(Connections connections, long id) {
    connections.call(
        EtcdMethod.LEASE_REVOKE,
        LeaseRevokeRequest.newBuilder().setID(id).build().toByteArray(),
        CALL_TIMEOUT_MS);
  }

  private void open(Connections connections, int connection, long lease) {
    Stream stream = new Stream(recorders.get(connection), lease);
    ClientCall<byte[], Reply> call =
        connections.start(connection, EtcdMethod.LEASE_KEEP_ALIVE, stream);
    call.request(Integer.MAX_VALUE);
    stream.begin(call);
  }

  /** One client's stream. */
  private final class Stream extends ClientCall.Listener<Reply> {
    private final Recorder recorder;
    private final byte[] request;
    private volatile @Nullable ClientCall<byte[], Reply> call;
    private volatile long started;
    private boolean ended;

    Stream(Recorder recorder, long lease) {
      this.recorder = recorder;
      this.request = LeaseKeepAliveRequest.newBuilder().setID(lease).build().toByteArray();
    }

    void begin(ClientCall<byte[], Reply> newCall) {
      call = newCall;
      started = System.nanoTime();
      newCall.sendMessage(request);
    }

    @Override
    public void onMessage(Reply message) {
      long now = System.nanoTime();
      if (!alive(message)) {
        recorder.error();
      } else if (window.contains(now)) {
        recorder.latency(now - started);
      }
      ClientCall<byte[], Reply> current = call;
      if (current == null) {
        throw new IllegalStateException("response before the first request");
      }
      if (window.open(now)) {
        started = now;
        current.sendMessage(request);
      } else {
        end();
        current.halfClose();
      }
    }

    private boolean alive(Reply message) {
      try {
        return LeaseKeepAliveResponse.parseFrom(message.body()).getTTL() > 0;
      } catch (InvalidProtocolBufferException e) {
        return false;
      }
    }

    private void end() {
      if (!ended) {
        ended = true;
        running.countDown();
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!ended) {
        recorder.error();
      }
      end();
    }
  }
}
