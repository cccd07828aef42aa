package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * The watchers of the apiservers, one apiserver for each member: a watcher on every resource, with
 * previous values and progress notifications. Checks that each event arrives once and in order, and
 * measures the time from sending a write to its event.
 */
final class KubernetesWatches implements AutoCloseable {
  private static final Metadata.Key<String> REQUIRE_LEADER =
      Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Window window;
  private final List<Connections> apiservers = new ArrayList<>();
  private final List<Stream> streams = new ArrayList<>();
  private final CountDownLatch created;
  private final LongAdder received = new LongAdder();
  private volatile boolean closing;

  private KubernetesWatches(Window window, int watchers) {
    this.window = window;
    this.created = new CountDownLatch(watchers);
  }

  /**
   * Opens the watchers and waits until the server has created them.
   *
   * @param from first revision of their events
   */
  static KubernetesWatches open(Target target, long from, Window window) {
    int resources = KubernetesResource.values().length;
    KubernetesWatches watches =
        new KubernetesWatches(window, target.endpoints().size() * resources);
    for (Endpoint member : target.endpoints()) {
      Connections connection = new Connections(target.loops(), List.of(member), 1);
      watches.apiservers.add(connection);
      for (KubernetesResource resource : KubernetesResource.values()) {
        watches.open(connection, KubernetesObjects.prefix(resource), from);
      }
    }
    try {
      if (!watches.created.await(TIMEOUT_NANOS, TimeUnit.NANOSECONDS)) {
        throw new IllegalStateException(watches.created.getCount() + " watchers were not created");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return watches;
  }

  private void open(Connections connection, ByteString prefix, long from) {
    Stream stream = new Stream();
    streams.add(stream);
    Metadata metadata = new Metadata();
    metadata.put(REQUIRE_LEADER, "true");
    ClientCall<byte[], Reply> call = connection.start(0, EtcdMethod.WATCH, metadata, stream);
    call.request(Integer.MAX_VALUE);
    call.sendMessage(
        WatchRequest.newBuilder()
            .setCreateRequest(
                WatchCreateRequest.newBuilder()
                    .setKey(prefix)
                    .setRangeEnd(Calls.afterPrefix(prefix))
                    .setStartRevision(from)
                    .setPrevKv(true)
                    .setProgressNotify(true))
            .build()
            .toByteArray());
  }

  /** Apiservers, 1 or more. */
  int apiservers() {
    return apiservers.size();
  }

  /**
   * Waits until every apiserver has the events of {@code writes} writes.
   *
   * @throws IllegalStateException if events are missing
   */
  void awaitEvents(long writes) {
    long expected = writes * apiservers();
    long deadline = System.nanoTime() + TIMEOUT_NANOS;
    while (received.sum() < expected) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(
            "watchers received " + received.sum() + " of " + expected + " events");
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Events that arrived in the window. */
  long inWindow() {
    return streams.stream().mapToLong(stream -> stream.inWindow).sum();
  }

  /** Delays of the events in the window that have a value; read after {@link #awaitEvents}. */
  List<Recorder> recorders() {
    return streams.stream().map(stream -> stream.recorder).toList();
  }

  @Override
  public void close() {
    closing = true;
    apiservers.forEach(Connections::close);
  }

  /** One watcher; called on the thread of its connection. */
  private final class Stream extends ClientCall.Listener<Reply> implements WatchEvents.Receiver {
    private final Recorder recorder = new Recorder();
    private long lastRevision;
    private long inWindow;

    @Override
    public void onMessage(Reply message) {
      try {
        WatchEvents.read(message.body(), this);
      } catch (IOException e) {
        recorder.error();
      }
    }

    @Override
    public void event(WatchEvents.Event event) {
      long now = System.nanoTime();
      boolean replaces = event.deletion() || event.version() > 1;
      if (event.modRevision() <= lastRevision || event.previous() != replaces) {
        recorder.error();
      }
      lastRevision = event.modRevision();
      if (window.contains(now)) {
        inWindow++;
        if (!event.deletion()) {
          recorder.latency(now - event.mark());
        }
      }
      received.increment();
    }

    @Override
    public void created() {
      created.countDown();
    }

    @Override
    public void canceled() {
      recorder.error();
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!closing) {
        recorder.error();
      }
    }
  }
}
