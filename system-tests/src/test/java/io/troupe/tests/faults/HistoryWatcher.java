package io.troupe.tests.faults;

import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchProgressRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ClientCall;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.history.WatchReply;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A watch that resumes at another member when its stream ends, directly after its last revision.
 * Each stream is a separate record. A stream that needs compacted revisions resumes after them. The
 * watcher leaves a stream from time to time, and one that sends nothing for long: a client does not
 * learn that its member is paused.
 */
final class HistoryWatcher implements AutoCloseable {
  private static final long SILENCE_US = 4_000_000;

  private final TestCluster cluster;
  private final ClusterHistory history;
  private final Set<Integer> members;
  private final SplittableRandom random;
  private final ScheduledExecutorService timer;
  private final ScheduledFuture<?> looking;
  private final List<String> complaints = new ArrayList<>();
  private WatchRecord.Asked wanted;
  private @Nullable Stream stream;
  private long streams;
  private boolean closed;

  /**
   * Starts a watch.
   *
   * @param members where streams are opened
   * @param wanted what the first stream asks for
   */
  HistoryWatcher(
      TestCluster cluster,
      ClusterHistory history,
      Set<Integer> members,
      WatchRecord.Asked wanted,
      SplittableRandom random,
      ScheduledExecutorService timer) {
    this.cluster = cluster;
    this.history = history;
    this.members = Set.copyOf(members);
    this.wanted = wanted;
    this.random = random;
    this.timer = timer;
    connect();
    looking = timer.scheduleWithFixedDelay(guarded(this::look), 300, 300, TimeUnit.MILLISECONDS);
  }

  private Runnable guarded(Runnable run) {
    return () -> {
      try {
        run.run();
      } catch (RuntimeException e) {
        synchronized (this) {
          complaints.add("watcher failed: " + e);
        }
        throw e;
      }
    };
  }

  private synchronized void connect() {
    if (closed) {
      return;
    }
    List<Integer> all = List.copyOf(new TreeSet<>(members));
    int member = all.get(random.nextInt(all.size()));
    streams++;
    Stream next = new Stream(cluster.calls(member).watch());
    stream = next;
    next.open();
  }

  /** Requests progress of the stream, and leaves a silent one. */
  private synchronized void look() {
    Stream current = stream;
    if (current == null) {
      return;
    }
    if (history.nowUs() - current.heardUs > SILENCE_US || random.nextInt(60) == 0) {
      current.leave();
    } else if (random.nextInt(3) == 0) {
      current.progress();
    }
  }

  /** First revision that it has not received yet. */
  synchronized long next() {
    Stream current = stream;
    return current == null ? wanted.startRevision() : current.record.nextRevision();
  }

  /** The number of streams. */
  synchronized long streams() {
    return streams;
  }

  synchronized List<String> complaints() {
    return List.copyOf(complaints);
  }

  /** The record of the current stream; null between two streams. */
  synchronized @Nullable WatchRecord record() {
    Stream current = stream;
    return current == null ? null : current.record;
  }

  @Override
  public synchronized void close() {
    closed = true;
    looking.cancel(false);
    Stream current = stream;
    if (current != null) {
      current.call.cancel("over", null);
    }
  }

  private final class Stream implements StreamObserver<WatchResponse> {
    private final ClientCall<WatchRequest, WatchResponse> call;
    private final WatchRecord record = new WatchRecord(wanted);
    private @Nullable StreamObserver<WatchRequest> requests;
    private long heardUs = history.nowUs();
    private boolean created;

    Stream(ClientCall<WatchRequest, WatchResponse> call) {
      this.call = call;
    }

    void open() {
      history.add(record);
      WatchRecord.Asked asked = record.asked();
      WatchCreateRequest.Builder create =
          EtcdModel.watch(asked.range())
              .setStartRevision(asked.startRevision())
              .setPrevKv(asked.prevKv())
              .setProgressNotify(asked.progressNotify());
      if (asked.filter().noPut()) {
        create.addFilters(WatchCreateRequest.FilterType.NOPUT);
      }
      if (asked.filter().noDelete()) {
        create.addFilters(WatchCreateRequest.FilterType.NODELETE);
      }
      StreamObserver<WatchRequest> opened = ClientCalls.asyncBidiStreamingCall(call, this);
      requests = opened;
      opened.onNext(WatchRequest.newBuilder().setCreateRequest(create).build());
    }

    void progress() {
      StreamObserver<WatchRequest> open = requests;
      if (created && open instanceof ClientCallStreamObserver<?> ready && ready.isReady()) {
        open.onNext(
            WatchRequest.newBuilder()
                .setProgressRequest(WatchProgressRequest.getDefaultInstance())
                .build());
      }
    }

    void leave() {
      call.cancel("left", null);
      ended();
    }

    @Override
    public void onNext(WatchResponse answer) {
      synchronized (HistoryWatcher.this) {
        if (stream != this) {
          return;
        }
        heardUs = history.nowUs();
        long revision = answer.getHeader().getRevision();
        long id = answer.getWatchId();
        if (answer.getCanceled()) {
          if (answer.getCompactRevision() > 0) {
            record.add(new WatchReply.Canceled(id, answer.getCompactRevision()));
          } else if (created) {
            complaints.add("cancelled: " + answer);
          }
          leave();
        } else if (answer.getCreated()) {
          created = true;
          record.add(new WatchReply.Created(id, revision));
        } else if (answer.getEventsCount() > 0) {
          record.add(
              new WatchReply.Events(
                  id,
                  revision,
                  answer.getEventsList().stream().map(EtcdModel::model).toList(),
                  false));
        } else if (created) {
          record.add(new WatchReply.Progress(id, revision));
        }
      }
    }

    @Override
    public void onError(Throwable failure) {
      ended();
    }

    @Override
    public void onCompleted() {
      ended();
    }

    private void ended() {
      synchronized (HistoryWatcher.this) {
        if (stream != this || closed) {
          return;
        }
        stream = null;
        WatchRecord.Asked asked = record.asked();
        wanted =
            new WatchRecord.Asked(
                asked.range(),
                record.nextRevision(),
                asked.filter(),
                asked.prevKv(),
                asked.fragment(),
                asked.progressNotify());
        ScheduledFuture<?> unused =
            timer.schedule(
                guarded(HistoryWatcher.this::connect),
                20 + random.nextInt(200),
                TimeUnit.MILLISECONDS);
      }
    }
  }
}
