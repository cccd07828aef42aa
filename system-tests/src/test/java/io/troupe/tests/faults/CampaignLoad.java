package io.troupe.tests.faults;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.simulation.client.Requests;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Clients, lease owners and a compacting client, each with its own thread, until they are stopped.
 */
final class CampaignLoad {
  /** The smallest TTL that members grant as requested, plus a margin. */
  private static final int SHORTEST_TTL = 3;

  private final TestCluster cluster;
  private final ClusterHistory history;
  private final long thinkUs;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final List<Thread> threads = new ArrayList<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /**
   * A load; {@link #start} begins it.
   *
   * @param thinkUs longest pause of a client between two calls
   */
  CampaignLoad(TestCluster cluster, ClusterHistory history, long thinkUs) {
    this.cluster = cluster;
    this.history = history;
    this.thinkUs = thinkUs;
  }

  /**
   * Starts the load.
   *
   * @param told supplies the highest revision that may be compacted
   */
  void start(int clients, int owners, LongSupplier told, SplittableRandom random) {
    for (int i = 0; i < clients; i++) {
      SplittableRandom own = random.split();
      String name = "c" + i;
      run(name, () -> client(name, own));
    }
    for (int i = 0; i < owners; i++) {
      SplittableRandom own = random.split();
      String name = "o" + i;
      run(name, () -> owner(name, own));
    }
    SplittableRandom own = random.split();
    run("compactor", () -> compactor(told, own));
  }

  private interface Work {
    void run() throws InterruptedException;
  }

  private void run(String name, Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "campaign-" + name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler((t, failure) -> failures.add(failure));
    threads.add(thread);
    thread.start();
  }

  /** Results that clients did not expect. */
  List<Throwable> failures() {
    return List.copyOf(failures);
  }

  /** Cancels all calls; returns when the last one has ended. */
  void stop() throws InterruptedException {
    stop.countDown();
    for (Thread thread : threads) {
      thread.join(30_000);
      if (thread.isAlive()) {
        throw new AssertionError("a call that does not end: " + thread);
      }
    }
  }

  /** True if there is nothing more to do. */
  private boolean pause(long us) throws InterruptedException {
    return stop.await(us, TimeUnit.MICROSECONDS);
  }

  private void client(String name, SplittableRandom random) throws InterruptedException {
    Requests requests = new Requests(random.split(), name);
    HistoryClient client = new HistoryClient(cluster, history, random.split());
    long seen = 1;
    Bytes lastKey = Requests.key(0);
    long lastMod = 0;
    while (!pause(random.nextLong(thinkUs))) {
      if (random.nextInt(15) == 0) {
        client.goElsewhere();
      }
      Answer answer =
          client.call(requests.next(seen, lastKey, lastMod), 500L + random.nextInt(2500));
      if (answer instanceof Answer.Done done && done.result() instanceof Result.Range range) {
        seen = Math.max(seen, range.range().revision());
        for (KeyValue kv : range.range().kvs()) {
          if (random.nextBoolean()) {
            lastKey = kv.key();
            lastMod = kv.modRevision();
          }
        }
      } else if (answer instanceof Answer.Done done && done.result() instanceof Result.Put put) {
        seen = Math.max(seen, put.revision());
      } else if (!(answer instanceof Answer.Done) && pause(100_000)) {
        // A refused client pauses before its next call.
        return;
      }
    }
  }

  /** Compacts just below the newest revision, or further below. */
  private void compactor(LongSupplier told, SplittableRandom random) throws InterruptedException {
    HistoryClient client = new HistoryClient(cluster, history, random.split());
    while (!pause(100_000 + random.nextLong(700_000))) {
      int behind = random.nextBoolean() ? random.nextInt(10) : random.nextInt(250);
      long revision = told.getAsLong() - behind;
      if (revision > 0) {
        client.call(new Request.Write(new Operation.Compact(revision)), 3000);
      }
    }
  }

  /** Grants a lease, writes with it, renews it for a while, then lets it expire or revokes it. */
  private void owner(String name, SplittableRandom random) throws InterruptedException {
    Requests requests = new Requests(random.split(), name);
    HistoryClient client = new HistoryClient(cluster, history, random.split());
    while (!pause(random.nextLong(500_000))) {
      long lease = 1 + random.nextLong(Long.MAX_VALUE - 1);
      long ttl = (long) SHORTEST_TTL + random.nextInt(3);
      Answer granted = client.call(new Request.Write(new Operation.LeaseGrant(lease, ttl)), 3000);
      if (!(granted instanceof Answer.Done)) {
        continue;
      }
      long until = history.nowUs() + random.nextLong(20_000_000);
      boolean gone = false;
      client.call(new Request.Write(requests.put(lease)), 2000);
      while (!gone && history.nowUs() < until) {
        Answer answer = client.call(new Request.KeepAlive(lease), 1000);
        boolean renewed = answer instanceof Answer.Renewed;
        gone = answer instanceof Answer.Renewed told && told.ttlSeconds() == 0;
        if (renewed && random.nextInt(4) == 0) {
          client.call(new Request.Write(requests.put(lease)), 2000);
        }
        if (pause(renewed ? ttl * 300_000 : 50_000)) {
          return;
        }
      }
      if (!gone && random.nextBoolean()) {
        client.call(new Request.Write(new Operation.LeaseRevoke(lease)), 3000);
      }
    }
  }
}
