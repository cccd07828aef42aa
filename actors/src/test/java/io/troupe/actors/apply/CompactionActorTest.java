package io.troupe.actors.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.member.ShownMetrics;
import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.mvcc.HashResult;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The test runs the hashes: the actor adds them to a queue. */
class CompactionActorTest {
  private static final long NO_LEASE = 0;

  private final ActorTestKit kit = ActorTestKit.create();
  private final InMemoryOrderedStore store = new InMemoryOrderedStore();
  private final StateMachine machine = new StateMachine(store, 0);
  private final BlockingQueue<Runnable> hashes = new LinkedBlockingQueue<>();
  private final MemberMetrics metrics = new MemberMetrics();
  private final TestProbe<Long> finished = kit.createTestProbe();

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private ActorRef<CompactionActor.Command> spawn(StateMachine of, int batch, Duration pause) {
    return kit.spawn(
        CompactionActor.create(
            new CompactionActor.Links(
                of.compactor(),
                ForkJoinPool.commonPool(),
                of.reader()::hashCompaction,
                hashes::add,
                finished.getRef()::tell,
                metrics.upkeep()),
            new CompactionActor.Settings(batch, pause)));
  }

  private long put(String value) {
    apply(new Operation.Put(Bytes.utf8("key"), Bytes.utf8(value), NO_LEASE, false, false, false));
    return machine.currentRevision();
  }

  private void apply(Operation operation) {
    machine.apply(machine.appliedIndex() + 1, 1, operation);
    machine.commit();
  }

  private void compact(ActorRef<CompactionActor.Command> actor, long revision) throws Exception {
    apply(new Operation.Compact(revision));
    actor.tell(new CompactionActor.Moved(revision));
    CompletableFuture<Void> done = new CompletableFuture<>();
    actor.tell(new CompactionActor.Await(revision, done));
    done.get(10, TimeUnit.SECONDS);
  }

  private Runnable nextHash() throws InterruptedException {
    Runnable hash = hashes.poll(10, TimeUnit.SECONDS);
    assertThat(hash).as("a hash was passed on").isNotNull();
    return hash;
  }

  /** Each version has a row of REV. */
  private static int rows(InMemoryOrderedStore store) {
    int rows = 0;
    try (Cursor all = store.cursor(Space.REV, Bytes.EMPTY, null, false)) {
      while (all.next()) {
        rows++;
      }
    }
    return rows;
  }

  private List<Long> remembered() {
    return machine.reader().compactionHashes().stream().map(HashResult.Hash::hashRevision).toList();
  }

  @Test
  void hashBeforeCompactionIsComputedAfterRemoval_MT6() throws Exception {
    ActorRef<CompactionActor.Command> actor = spawn(machine, 100, Duration.ZERO);
    put("1");
    long first = put("2");
    put("3");
    HashResult before = machine.reader().hash(first);
    compact(actor, first);
    assertThat(rows(store)).isEqualTo(2);
    nextHash().run();
    assertThat(remembered()).containsExactly(first);
    assertThat(machine.reader().hash(first)).isEqualTo(before);

    long second = put("4");
    compact(actor, second);
    nextHash().run();
    assertThat(remembered()).containsExactly(second, first);
    assertThat(((HashResult.Hash) machine.reader().hash(second)).compactRevision())
        .isEqualTo(first);
    assertThat(machine.reader().hash(first - 1))
        .isEqualTo(new HashResult.Refused(Refusal.COMPACTED));
  }

  @Test
  void pendingHashDelaysNoCompactionAndNewestCompactionIsHashed_MT6() throws Exception {
    ActorRef<CompactionActor.Command> actor = spawn(machine, 100, Duration.ZERO);
    put("a");
    long first = put("b");
    compact(actor, first);
    Runnable firstHash = nextHash();
    firstHash.run();
    long[] revisions = new long[4];
    for (int i = 0; i < revisions.length; i++) {
      put("a" + i);
      revisions[i] = put("b" + i);
      // Returns although no hash has run.
      compact(actor, revisions[i]);
    }
    nextHash().run();
    // Runs once more, because compactions arrived while the hash waited. Nothing is left to hash.
    nextHash().run();
    assertThat(remembered()).containsExactly(revisions[3], first);
    assertThat(machine.reader().hash(revisions[2]))
        .as("overtaken before its hash began")
        .isEqualTo(new HashResult.Refused(Refusal.COMPACTED));
    compact(actor, put("later"));
    nextHash().run();
    assertThat(remembered()).hasSize(3);
    assertThat(hashes).isEmpty();
  }

  @Test
  void compactionThatRemovesNothingIsHashed() throws Exception {
    ActorRef<CompactionActor.Command> actor = spawn(machine, 100, Duration.ZERO);
    long only = put("1");
    compact(actor, only);
    nextHash().run();
    compact(actor, put("2"));
    assertThat(remembered()).containsExactly(only);
    assertThat(finished.receiveMessage()).as("the second removed a version").isEqualTo(only + 1);
    finished.expectNoMessage(Duration.ZERO);
  }

  private double counted(String name) {
    return ShownMetrics.value(metrics, "etcd_debugging_mvcc_db_compaction_" + name);
  }

  @Test
  void onlyCompactionsThatRemoveVersionsAreMeasured() throws Exception {
    ActorRef<CompactionActor.Command> actor = spawn(machine, 2, Duration.ZERO);
    CompletableFuture<Void> checked = new CompletableFuture<>();
    actor.tell(new CompactionActor.Await(-1, checked));
    checked.get(10, TimeUnit.SECONDS);
    assertThat(counted("pause_duration_milliseconds_count")).isZero();
    assertThat(counted("last")).isZero();

    for (int i = 0; i < 9; i++) {
      put("v" + i);
    }
    long before = System.currentTimeMillis() / 1000;
    compact(actor, machine.currentRevision());
    // Waiting callers are completed during the last step.
    finished.receiveMessage();
    CompletableFuture<Void> done = new CompletableFuture<>();
    actor.tell(new CompactionActor.Await(machine.currentRevision(), done));
    done.get(10, TimeUnit.SECONDS);
    assertThat(counted("keys_total")).isEqualTo(8);
    assertThat(counted("total_duration_milliseconds_count")).isEqualTo(1);
    assertThat(counted("pause_duration_milliseconds_count"))
        .as("steps of two")
        .isBetween(4.0, 12.0);
    assertThat(counted("last"))
        .isBetween((double) before, (double) System.currentTimeMillis() / 1000);
  }

  @Test
  void awaitedCompactionIsCountedOnce() throws Exception {
    ActorRef<CompactionActor.Command> actor = spawn(machine, 100, Duration.ZERO);
    put("1");
    put("2");
    apply(new Operation.Compact(machine.currentRevision()));
    CompletableFuture<Void> awaited = new CompletableFuture<>();
    actor.tell(new CompactionActor.Await(machine.currentRevision(), awaited));
    awaited.get(10, TimeUnit.SECONDS);
    // The caller is completed before the removal ends.
    awaitCounted("total_duration_milliseconds_count", 1);
    actor.tell(new CompactionActor.Moved(machine.currentRevision()));
    CompletableFuture<Void> stepped = new CompletableFuture<>();
    actor.tell(new CompactionActor.Await(machine.currentRevision(), stepped));
    stepped.get(10, TimeUnit.SECONDS);
    // One more step after it.
    CompletableFuture<Void> after = new CompletableFuture<>();
    actor.tell(new CompactionActor.Await(machine.currentRevision(), after));
    after.get(10, TimeUnit.SECONDS);
    assertThat(counted("total_duration_milliseconds_count")).isEqualTo(1);
    assertThat(counted("keys_total")).isEqualTo(1);

    long next = machine.currentRevision() + 1;
    put("3");
    compact(actor, next);
    finished.receiveMessage();
    finished.receiveMessage();
    awaitCounted("total_duration_milliseconds_count", 2);
  }

  private void awaitCounted(String name, double value) {
    Awaitility.await(name).atMost(Duration.ofSeconds(10)).until(() -> counted(name) == value);
  }

  @Test
  void interruptedCompactionContinuesAfterRestart_C4() throws Exception {
    for (int i = 0; i < 50; i++) {
      put("v" + i);
    }
    ActorRef<CompactionActor.Command> slow = spawn(machine, 1, Duration.ofHours(1));
    apply(new Operation.Compact(machine.currentRevision()));
    slow.tell(new CompactionActor.Moved(machine.currentRevision()));
    kit.stop(slow);
    assertThat(rows(store)).as("not finished").isGreaterThan(40);

    StateMachine again = new StateMachine(store, 0);
    spawn(again, 10, Duration.ZERO);
    assertThat(finished.receiveMessage()).isEqualTo(again.currentRevision());
    assertThat(rows(store)).isEqualTo(1);
    assertThat(again.reader().compactionHashes()).as("forgotten at the restart").isEmpty();
  }

  @Test
  void startWithoutPendingCompactionHashesNothing() throws Exception {
    ActorRef<CompactionActor.Command> actor = spawn(machine, 100, Duration.ZERO);
    put("1");
    compact(actor, put("2"));
    nextHash().run();
    kit.stop(actor);

    StateMachine again = new StateMachine(store, 0);
    ActorRef<CompactionActor.Command> next = spawn(again, 100, Duration.ZERO);
    CompletableFuture<Void> stepped = new CompletableFuture<>();
    next.tell(new CompactionActor.Await(again.reader().view().compactedRevision(), stepped));
    stepped.get(10, TimeUnit.SECONDS);
    assertThat(hashes).isEmpty();
  }
}
