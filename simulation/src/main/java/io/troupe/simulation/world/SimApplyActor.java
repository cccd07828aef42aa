package io.troupe.simulation.world;

import io.troupe.lease.LeaseChange;
import io.troupe.machine.Applied;
import io.troupe.machine.StateMachine;
import io.troupe.model.Entry;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.mvcc.Compactor;
import io.troupe.mvcc.HashResult;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.simulation.history.Answer;
import io.troupe.watch.Commit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The only writer of the state and the owner of pending replies. Applies, commits, then publishes
 * to leases, watches, callers and reads.
 */
final class SimApplyActor {
  private static final long DIGEST_INTERVAL_US = 1_000_000;

  private record PendingReply(long term, Consumer<Answer> reply) {}

  private record AppliedReply(Consumer<Answer> reply, Answer outcome) {}

  private final MemberRun run;
  private final SimActor actor;
  private final Map<Long, PendingReply> waiting = new LinkedHashMap<>();
  private final TreeMap<Long, List<MemberRun.ReadIndexWaiter>> reads = new TreeMap<>();
  private final List<AppliedReply> replies = new ArrayList<>();
  private final List<Commit> commits = new ArrayList<>();
  private final List<LeaseChange> leaseChanges = new ArrayList<>();

  /** Term in which this member leads and of which it has not applied an entry yet; otherwise 0. */
  private long unsettledTerm;

  /** Term of the last applied entry. */
  private long appliedTerm;

  private final SimDigestActor digests;
  private final DigestStore store;
  private final StateMachine machine;
  private long compactedRevision;
  private boolean compacting;

  SimApplyActor(MemberRun run, DigestStore store) {
    this.run = run;
    this.actor = run.actor();
    this.store = store;
    this.machine = new StateMachine(store, run.world.settings().cacheBytes());
    this.appliedTerm = machine.view().appliedTerm();
    this.digests = new SimDigestActor(run, machine);
  }

  void start() {
    run.process.after(run.random.nextInt(500_000), this::flushState);
    run.world.rules().digest(run.id, machine.view().appliedIndex(), store.digest());
    compact();
    run.process.after(run.random.nextLong(DIGEST_INTERVAL_US), this::digestInterval);
  }

  private void digestInterval() {
    actor.tell(digests::check);
    run.process.after(DIGEST_INTERVAL_US, this::digestInterval);
  }

  StateMachine machine() {
    return machine;
  }

  /** True while this member must not serve, because its state is not the leader's. */
  boolean isCorrupt() {
    return digests.isCorrupt();
  }

  /** Changes a record of the store without the state machine, like a flipped bit. */
  boolean damage(Predicate<DigestStore> how) {
    return how.test(store);
  }

  // ---- messages

  /** Registers the caller of a proposal that was made, or forwarded to a leader, in a term. */
  void expect(long request, long term, Consumer<Answer> reply) {
    actor.tell(() -> waiting.put(request, new PendingReply(term, reply)));
  }

  void refuse(long request, Refusal reason) {
    actor.tell(
        () -> {
          PendingReply who = waiting.remove(request);
          if (who != null) {
            who.reply().accept(new Answer.Refused(reason));
          }
        });
  }

  /** Compares the digest of the leader that this member follows. */
  void compareDigest(long index, long digest) {
    actor.tell(() -> digests.compare(index, digest));
  }

  void leading(boolean leads, long term) {
    actor.tell(
        () -> {
          digests.leading(leads ? term : 0);
          unsettledTerm = leads ? term : 0;
          if (leads) {
            run.lease.promoted(machine.reader().leases(), term);
          } else {
            run.lease.demoted();
          }
        });
  }

  void awaitApplied(long index, MemberRun.ReadIndexWaiter waiter) {
    actor.tell(
        () -> {
          if (index <= machine.view().appliedIndex()) {
            waiter.ready(index);
          } else {
            reads.computeIfAbsent(index, i -> new ArrayList<>()).add(waiter);
          }
        });
  }

  void take(List<Entry> entries) {
    actor.tell(() -> apply(entries));
  }

  // ---- entries

  private void apply(List<Entry> entries) {
    int at = 0;
    while (at < entries.size()) {
      // Each member splits its batches differently.
      int to = Math.min(entries.size(), at + 1 + run.random.nextInt(8));
      for (; at < to; at++) {
        apply(entries.get(at));
      }
      machine.commit();
      distribute();
    }
  }

  private void apply(Entry entry) {
    switch (entry.kind()) {
      case NOOP -> {
        run.world.rules().applying(run.id, entry, 0);
        machine.noop(entry.index(), entry.term());
      }
      case CONF_CHANGE -> {
        run.world.rules().applying(run.id, entry, 0);
        ConfEntry change = MembershipCodec.decodeEntry(entry.data());
        run.world.rules().configured(change);
        machine.confChange(entry.index(), entry.term(), change);
      }
      case OPERATION -> {
        long request = run.world.decode(entry.data());
        run.world.rules().applying(run.id, entry, request);
        operation(entry, request, run.world.operation(request));
      }
    }
    digests.applied();
  }

  private void operation(Entry entry, long request, Operation operation) {
    Applied applied = machine.apply(entry.index(), entry.term(), operation);
    run.world.rules().applied(run.id, entry, applied, run.world.scheduler().nowUs());
    if (!applied.events().isEmpty()) {
      commits.add(new Commit(applied.revision(), applied.events()));
    }
    leaseChanges.addAll(applied.leaseChanges());
    PendingReply who = waiting.remove(request);
    if (who != null) {
      replies.add(new AppliedReply(who.reply(), new Answer.Done(applied.result())));
    }
  }

  private void distribute() {
    long index = machine.view().appliedIndex();
    run.world.rules().digest(run.id, index, store.digest());
    digests.committed();
    if (!leaseChanges.isEmpty()) {
      run.lease.changed(List.copyOf(leaseChanges));
      leaseChanges.clear();
    }
    if (unsettledTerm != 0 && machine.view().appliedTerm() == unsettledTerm) {
      run.lease.stateCaughtUp(unsettledTerm);
      unsettledTerm = 0;
    }
    if (!commits.isEmpty()) {
      run.watch.committed(List.copyOf(commits));
      commits.clear();
    }
    run.applied(index);
    replies.forEach(each -> each.reply().accept(each.outcome()));
    replies.clear();
    refuseLost();
    releaseReads(index);
    if (machine.reader().view().compactedRevision() != compactedRevision) {
      compactedRevision = machine.reader().view().compactedRevision();
      compact();
    }
    run.snapshots.due(index);
  }

  /**
   * Refuses the lost proposals of earlier terms. A proposal of an earlier leader is in the log
   * before the first entry of a later term, or never.
   */
  private void refuseLost() {
    long term = machine.view().appliedTerm();
    if (term == appliedTerm) {
      return;
    }
    appliedTerm = term;
    List<Long> lost =
        waiting.entrySet().stream()
            .filter(entry -> entry.getValue().term() < term)
            .map(Map.Entry::getKey)
            .toList();
    for (long request : lost) {
      PendingReply who = waiting.remove(request);
      run.world.coverage().count("proposals lost with their leader");
      run.world.rules().rejected(new RequestId(request));
      who.reply().accept(new Answer.Refused(Refusal.NO_LEADER));
    }
  }

  private void releaseReads(long index) {
    while (!reads.isEmpty() && reads.firstKey() <= index) {
      Map.Entry<Long, List<MemberRun.ReadIndexWaiter>> first = reads.pollFirstEntry();
      first.getValue().forEach(waiter -> waiter.ready(first.getKey()));
    }
  }

  // ---- the state beside entries

  /** Writes the state in memory to disk, at random intervals. */
  private void flushState() {
    run.disk.flush(store.copy(), machine.view().appliedIndex());
    run.process.after(20_000 + run.random.nextInt(1_500_000), this::flushState);
  }

  private void compact() {
    if (!compacting) {
      compacting = true;
      run.process.after(run.random.nextInt(20_000), this::compactStep);
    }
  }

  private void compactStep() {
    Compactor.Progress progress = machine.compactor().removeBatch(1 + run.random.nextInt(100));
    run.world.coverage().count("versions removed by compaction", progress.removed());
    if (progress.done()) {
      HashResult.Hash hash = machine.reader().hashCompaction();
      if (hash != null) {
        run.world.rules().compactionHash(run.id, hash);
      }
      compacting = false;
    } else {
      run.process.after(run.random.nextInt(10_000), this::compactStep);
    }
  }

  /** Returns true if no compacted version remains. */
  boolean isCompacted() {
    return !compacting;
  }

  /** Returns a copy of the state and its position, for a snapshot. */
  DigestStore copyState() {
    return store.copy();
  }

  /**
   * Stops after all earlier messages: callers that wait for entries in a snapshot get no result.
   */
  void stop(Runnable stopped) {
    actor.tell(
        () -> {
          waiting.values().forEach(who -> who.reply().accept(Answer.Unknown.INSTANCE));
          waiting.clear();
          stopped.run();
        });
  }
}
