package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.bench.report.Cell;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Writers put keys below one prefix that all watchers watch; {@link FanOutWriter} decides when a
 * writer continues. Latency is from sending the put to the event at the last watcher; operations
 * are events.
 */
final class WatchFanOut {
  private static final String PREFIX = "watched/";
  private static final int MAX_STREAMS = 10;
  private static final long TIMEOUT_SECONDS = 30;

  private final int watchers;
  private final int valueBytes;
  private final Connections putConnections;
  private final Window window;
  private final CountDownLatch created;
  private final CountDownLatch writing;
  private final LongAdder delivered = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final List<Recorder> recorders = new ArrayList<>();
  private final List<FanOutWriter> writers = new ArrayList<>();

  private WatchFanOut(Target target, int watchers, Connections putConnections, Window window) {
    this.watchers = watchers;
    this.valueBytes = target.settings().valueBytes();
    this.putConnections = putConnections;
    this.window = window;
    this.created = new CountDownLatch(watchers);
    this.writing = new CountDownLatch(target.settings().writers());
    for (int i = 0; i < target.settings().writers(); i++) {
      int number = i;
      writers.add(
          new FanOutWriter(
              watchers,
              target.settings().ahead(),
              window,
              sequence -> put(number, sequence),
              writing::countDown));
    }
  }

  /** Measures one number of watchers. */
  static Cell measure(Target target, int watchers) {
    int streams = Math.min(watchers, MAX_STREAMS);
    try (Connections watchConnections = target.connect(streams);
        Connections putConnections = target.connect(1)) {
      target.awaitQuiet();
      // Creating a thousand watchers takes time: the warm-up starts after it.
      Window window =
          Window.after(
              target.settings().warmUp().plusMillis(watchers), target.settings().duration());
      return new WatchFanOut(target, watchers, putConnections, window)
          .run(target, watchConnections, streams);
    }
  }

  private Cell run(Target target, Connections watchConnections, int streams) {
    for (int i = 0; i < streams; i++) {
      openStream(watchConnections, i, watchers / streams + (i < watchers % streams ? 1 : 0));
    }
    await(created, "watchers were not created");
    writers.forEach(FanOutWriter::go);
    Window.waitUntil(window.from());
    Meter.Sample begin = target.meter().sample();
    Window.waitUntil(window.until());
    Meter.Sample end = target.meter().sample();
    await(writing, "puts lack an acknowledgement or events");
    writers.forEach(w -> recorders.add(w.recorder()));
    Recorder counted = new Recorder();
    for (long i = errors.sum(); i > 0; i--) {
      counted.error();
    }
    recorders.add(counted);
    return target
        .meter()
        .cell("watch", Loads.watchers(watchers), delivered.sum(), recorders, begin, end);
  }

  private void await(CountDownLatch latch, String otherwise) {
    try {
      if (!latch.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            latch.getCount() + " " + otherwise + "; errors: " + errors.sum());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void openStream(Connections connections, int index, int count) {
    ClientCall<byte[], Reply> call =
        connections.start(index % connections.count(), EtcdMethod.WATCH, new WatchStream());
    // The client never applies backpressure: the profile measures how fast the server can send.
    call.request(Integer.MAX_VALUE);
    byte[] create =
        WatchRequest.newBuilder()
            .setCreateRequest(
                WatchCreateRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8(PREFIX))
                    .setRangeEnd(ByteString.copyFromUtf8("watched0")))
            .build()
            .toByteArray();
    for (int i = 0; i < count; i++) {
      call.sendMessage(create);
    }
  }

  /** One stream with its share of the watchers, like that of one client. */
  private final class WatchStream extends ClientCall.Listener<Reply> {
    @Override
    public void onMessage(Reply message) {
      try {
        if (FanOutValue.read(message.body(), (writer, sequence) -> delivered(writer, sequence))) {
          created.countDown();
        }
      } catch (IOException e) {
        errors.increment();
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (status.getCode() != Status.Code.UNAVAILABLE || window.open(System.nanoTime())) {
        errors.increment();
      }
    }
  }

  private void delivered(int writer, int sequence) {
    if (!writers.get(writer).delivered(sequence)) {
      errors.increment();
    } else if (window.contains(System.nanoTime())) {
      delivered.increment();
    }
  }

  private void put(int writer, int sequence) {
    ClientCall<byte[], Reply> call =
        putConnections.start(
            writer % putConnections.count(), EtcdMethod.PUT, new Acknowledgement(writer));
    call.request(2);
    call.sendMessage(
        FanOutValue.put(ByteString.copyFromUtf8(PREFIX + writer), writer, sequence, valueBytes));
    call.halfClose();
  }

  private final class Acknowledgement extends ClientCall.Listener<Reply> {
    private final int writer;

    Acknowledgement(int writer) {
      this.writer = writer;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!status.isOk()) {
        errors.increment();
      }
      writers.get(writer).acknowledged();
    }
  }
}
