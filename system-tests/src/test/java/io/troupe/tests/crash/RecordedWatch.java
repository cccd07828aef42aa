package io.troupe.tests.crash;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A watch that survives its member: it records the received events and resumes after its last
 * revision with the next connection. It collects violations of the watch guarantees as complaints.
 */
final class RecordedWatch {
  /** An event with the previous record, or null. */
  record Seen(Write.Change change, Write.@Nullable Version previous) {}

  private final String name;
  private final WatchCreateRequest template;
  private final NavigableMap<Long, List<Seen>> revisions = new TreeMap<>();
  private final List<String> complaints = new ArrayList<>();
  private long last;
  private int connection;

  /**
   * A watch; {@link #connect} starts it.
   *
   * @param template key, range, filters
   * @param after events of greater revisions are wanted
   */
  RecordedWatch(String name, WatchCreateRequest template, long after) {
    this.name = name;
    this.template = template;
    this.last = after;
  }

  /** The revision up to which all events have arrived. */
  synchronized long last() {
    return last;
  }

  synchronized List<String> complaints() {
    return List.copyOf(complaints);
  }

  /** Events with revisions above {@code from}, up to {@code to}, by revision. */
  synchronized NavigableMap<Long, List<Seen>> between(long from, long to) {
    return new TreeMap<>(revisions.subMap(from, false, to, true));
  }

  /** Drops the checked events. */
  synchronized void forgetThrough(long revision) {
    revisions.headMap(revision, true).clear();
  }

  /** Opens the watch with a new connection, directly after its last revision. */
  void connect(EtcdClient client) {
    int number;
    long start;
    synchronized (this) {
      number = ++connection;
      start = last + 1;
    }
    StreamObserver<WatchRequest> requests = client.watch(new Answers(number));
    requests.onNext(
        WatchRequest.newBuilder()
            .setCreateRequest(template.toBuilder().setStartRevision(start).build())
            .build());
  }

  /** Waits until it has received that revision. */
  void awaitRevision(long revision) {
    Awaitility.await(name + " sees revision " + revision)
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> last() >= revision || !complaints().isEmpty());
  }

  private synchronized void received(int number, WatchResponse response) {
    if (number != connection) {
      return;
    }
    if (response.getCanceled() || response.getCompactRevision() > 0) {
      complaints.add(name + " was cancelled after " + last + ": " + response);
      return;
    }
    long before = last;
    for (Event event : response.getEventsList()) {
      long revision = event.getKv().getModRevision();
      if (revision <= before || revision < last) {
        complaints.add(name + ": revision " + revision + " came after " + last + " and " + before);
      }
      last = Math.max(last, revision);
      revisions.computeIfAbsent(revision, r -> new ArrayList<>()).add(seen(event));
    }
  }

  private static Seen seen(Event event) {
    KeyValue kv = event.getKv();
    String key = kv.getKey().toStringUtf8();
    boolean put = event.getType() == Event.EventType.PUT;
    return new Seen(
        new Write.Change(key, put ? version(kv) : null),
        event.hasPrevKv() ? version(event.getPrevKv()) : null);
  }

  static Write.Version version(KeyValue kv) {
    return new Write.Version(
        kv.getValue().toStringUtf8(),
        kv.getCreateRevision(),
        kv.getModRevision(),
        kv.getVersion(),
        kv.getLease());
  }

  static WatchCreateRequest.Builder over(String key, String end) {
    return WatchCreateRequest.newBuilder()
        .setKey(ByteString.copyFromUtf8(key))
        .setRangeEnd(ByteString.copyFromUtf8(end));
  }

  private final class Answers implements StreamObserver<WatchResponse> {
    private final int number;

    Answers(int number) {
      this.number = number;
    }

    @Override
    public void onNext(WatchResponse response) {
      received(number, response);
    }

    @Override
    public void onError(Throwable ended) {
      // The member is stopped: connect() follows with the next one.
    }

    @Override
    public void onCompleted() {
      // As above: a member that shuts down in order closes its streams.
    }
  }
}
