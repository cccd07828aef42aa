package io.troupe.tests.crash;

import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.tests.process.CallFate;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.awaitility.Awaitility;

/**
 * Eight clients that write to ten keys, and one that compacts, until they are stopped or their
 * member exits. They pause only after a write with an unknown outcome. The journal records the
 * outcomes.
 */
final class Load {
  static final int CLIENTS = 8;
  static final int KEYS = 10;
  private static final int PADDING = 400;
  private static final int LEASES_PER_CLIENT = 3;
  private static final long LONG_TTL = 3600;
  private static final long PAUSE_AFTER_UNKNOWN_MS = 200;

  private final Journal journal;
  private final long seed;
  private final AtomicLong numbers = new AtomicLong();
  private final List<Deque<Long>> leases = new ArrayList<>();
  private volatile boolean running;

  Load(Journal journal, long seed) {
    this.journal = journal;
    this.seed = seed;
    for (int i = 0; i < CLIENTS; i++) {
      leases.add(new ArrayDeque<>());
    }
  }

  static String key(int number) {
    return "k" + number;
  }

  /** The load of one round, in progress. */
  final class Round {
    private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS + 1);
    private final List<Future<?>> work = new ArrayList<>();

    /**
     * Waits until this many writes noted since {@link Journal#take} are acknowledged, two minutes
     * at most; fails as soon as a client ends.
     */
    void awaitAcknowledged(long count) {
      Awaitility.await("acknowledged writes")
          .atMost(Duration.ofMinutes(2))
          .pollInterval(Duration.ofMillis(20))
          .until(
              () -> {
                failIfEnded();
                return journal.acknowledgedSinceTaken() >= count;
              });
    }

    private void failIfEnded() throws Exception {
      for (Future<?> client : work) {
        if (client.isDone()) {
          client.get();
          throw new AssertionError("a client ended: its member has exited");
        }
      }
    }

    /** Stops the clients and waits for them; fails if a client met an unexpected result. */
    void finish() throws Exception {
      running = false;
      for (Future<?> client : work) {
        client.get(60, TimeUnit.SECONDS);
      }
      threads.shutdown();
    }
  }

  /**
   * Starts a round, which the clients end when the member has exited.
   *
   * @param compactTo up to where a compaction may go: no further than the slowest watch
   */
  Round start(EtcdClient client, int round, BooleanSupplier memberIsAlive, LongSupplier compactTo) {
    running = true;
    Round started = new Round();
    for (int i = 0; i < CLIENTS; i++) {
      int number = i;
      Random random = new Random(seed * 1_000_003 + round * 31L + number);
      started.work.add(started.threads.submit(() -> write(client, number, random, memberIsAlive)));
    }
    started.work.add(started.threads.submit(() -> compact(client, compactTo)));
    return started;
  }

  private void write(EtcdClient client, int number, Random random, BooleanSupplier memberIsAlive) {
    while (running && memberIsAlive.getAsBoolean()) {
      String id = "w" + numbers.incrementAndGet();
      if (!one(client, id, leases.get(number), random)) {
        // The member is slow for a while, or about to exit.
        Pause.millis(PAUSE_AFTER_UNKNOWN_MS);
      }
    }
  }

  /** One write of any kind; false if its outcome is unknown. */
  private boolean one(EtcdClient client, String id, Deque<Long> own, Random random) {
    int dice = random.nextInt(100);
    if (dice < 45) {
      return apply(client, id, new Write.Put(key(random), value(id), 0)).isKnown();
    }
    if (dice < 58) {
      return apply(client, id, new Write.Delete(key(random))).isKnown();
    }
    if (dice < 82) {
      return apply(client, id, txn(id, random)).isKnown();
    }
    Long oldest = dice < 96 ? null : own.pollFirst();
    return oldest == null
        ? putWithLease(client, id, own, random)
        : apply(client, id, new Write.Revoke(oldest)).isKnown();
  }

  private boolean putWithLease(EtcdClient client, String id, Deque<Long> own, Random random) {
    if (own.size() < LEASES_PER_CLIENT) {
      // One lease in six expires.
      boolean runsOut = random.nextInt(6) == 0;
      long lease = 1 + (random.nextLong() >>> 1);
      try {
        client.grant(lease, runsOut ? 2 : LONG_TTL);
        journal.granted(lease, runsOut ? 2 : LONG_TTL, runsOut);
        own.addLast(lease);
      } catch (StatusRuntimeException e) {
        refuseOthers(e);
        return false;
      }
    }
    List<Long> choice = List.copyOf(own);
    long lease = choice.get(random.nextInt(choice.size()));
    Write write = apply(client, id, new Write.Put(key(random), value(id), lease));
    if (write.outcome == Write.Outcome.REFUSED) {
      own.remove(lease);
    }
    return write.isKnown();
  }

  private static Write.Txn txn(String id, Random random) {
    int first = random.nextInt(KEYS);
    int count = 1 + random.nextInt(4);
    List<Write.Put> puts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      puts.add(new Write.Put(key((first + i) % KEYS), value(id), 0));
    }
    String deleted = random.nextBoolean() ? key((first + count) % KEYS) : null;
    return new Write.Txn(key(random), puts, deleted, new Write.Put(key(random), value(id), 0));
  }

  private static String key(Random random) {
    return key(random.nextInt(KEYS));
  }

  static String value(String id) {
    return id + " " + "x".repeat(PADDING);
  }

  /**
   * Sends a write, each time with another id, until one is acknowledged, five times at most.
   *
   * @param action the write with an id
   * @return its revision
   */
  long applyUntilAcknowledged(EtcdClient client, String id, Function<String, Write.Action> action) {
    for (int attempt = 1; attempt <= 5; attempt++) {
      String own = id + "-" + attempt;
      Write write = apply(client, own, action.apply(own));
      if (write.outcome == Write.Outcome.ACKNOWLEDGED) {
        return write.revision;
      }
    }
    throw new AssertionError("not acknowledged: " + id);
  }

  /** Sends a write and records its outcome. */
  Write apply(EtcdClient client, String id, Write.Action action) {
    Write write = journal.begin(id, action);
    try {
      journal.acknowledged(write, send(client, action));
    } catch (StatusRuntimeException e) {
      if (isNo(e.getStatus())) {
        write.outcome = Write.Outcome.REFUSED;
      } else {
        refuseOthers(e);
      }
    }
    return write;
  }

  /** The member reported that it did not apply the write. */
  private static boolean isNo(Status status) {
    return switch (status.getCode()) {
      case NOT_FOUND, RESOURCE_EXHAUSTED, OUT_OF_RANGE -> true;
      default -> false;
    };
  }

  /** A killed member leaves an unknown outcome; any other error is a finding. */
  private static void refuseOthers(StatusRuntimeException e) {
    if (!CallFate.isUnknown(e.getStatus())) {
      throw new AssertionError("unexpected answer " + e.getStatus(), e);
    }
  }

  private static long send(EtcdClient client, Write.Action action) {
    if (action instanceof Write.Put put) {
      return client.put(put.key(), put.value(), put.lease()).getHeader().getRevision();
    }
    if (action instanceof Write.Delete delete) {
      return client.delete(delete.key()).getHeader().getRevision();
    }
    if (action instanceof Write.Txn txn) {
      return client.txn(request(txn)).getHeader().getRevision();
    }
    return client.revoke(((Write.Revoke) action).lease());
  }

  private static TxnRequest request(Write.Txn txn) {
    TxnRequest.Builder request =
        TxnRequest.newBuilder()
            .addCompare(
                Compare.newBuilder()
                    .setKey(EtcdClient.bytes(txn.guard()))
                    .setTarget(Compare.CompareTarget.VERSION)
                    .setResult(Compare.CompareResult.GREATER)
                    .setVersion(0));
    txn.puts().forEach(put -> request.addSuccess(op(put)));
    String deleted = txn.deleted();
    if (deleted != null) {
      request.addSuccess(
          RequestOp.newBuilder()
              .setRequestDeleteRange(
                  DeleteRangeRequest.newBuilder().setKey(EtcdClient.bytes(deleted))));
    }
    return request.addFailure(op(txn.otherwise())).build();
  }

  private static RequestOp op(Write.Put put) {
    return RequestOp.newBuilder()
        .setRequestPut(
            EtcdClient.put(EtcdClient.bytes(put.key()), EtcdClient.bytes(put.value()), put.lease()))
        .build();
  }

  private void compact(EtcdClient client, LongSupplier compactTo) {
    while (running) {
      long revision = compactTo.getAsLong() - 100;
      if (revision > journal.compactionAsked()) {
        journal.compactionAsked(revision);
        try {
          client.compact(revision, false);
          journal.compacted(revision);
        } catch (StatusRuntimeException e) {
          refuseOthers(e);
        }
      }
      Pause.millis(250);
    }
  }
}
