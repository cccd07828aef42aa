package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.lease.LeaseChange;
import io.troupe.machine.Applied;
import io.troupe.machine.ApplyCore;
import io.troupe.machine.ApplyEffects;
import io.troupe.machine.CommittedReplay;
import io.troupe.machine.DigestCheck;
import io.troupe.machine.StateMachine;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.Lease;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.mvcc.EntryBounds;
import io.troupe.mvcc.RevisionChanges;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.simulation.history.Answer;
import io.troupe.watch.Commit;
import io.troupe.watch.CommitBatcher;
import io.troupe.watch.EventBacklog;
import io.troupe.watch.MissedRevisions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Runs {@link ApplyCore}, and checks what it applies. */
final class SimApplyActor implements ApplyEffects<SimApplyActor.Caller, SimApplyActor.Read> {
  private static final long DIGEST_INTERVAL_US = 1_000_000;
  private static final int DIGEST_EVERY = 64;

  /** Longer than any client waits. */
  private static final long SWEEP_US = 10_000_000;

  /**
   * The caller of a proposal.
   *
   * @param response counts the records of the response; null if it needs none
   */
  record Caller(RequestId id, Consumer<Answer> reply, MemoryBudget.@Nullable Share response) {}

  /** A read that waits for an index. */
  record Read(long index, MemberRun.ReadIndexWaiter waiter) {}

  private record AppliedReply(Caller caller, Answer outcome) {}

  private final MemberRun run;
  private final SimActor actor;
  private final DigestStore store;
  private final StateMachine machine;
  private final ApplyCore<Caller, Read> core;
  private final List<AppliedReply> replies = new ArrayList<>();
  private final CommitBatcher commits;

  SimApplyActor(MemberRun run, DigestStore store) {
    this.run = run;
    this.actor = run.actor();
    this.store = store;
    SimSettings.MemoryLimits limits = run.world.settings().memory();
    this.machine =
        new StateMachine(
            store,
            run.world.settings().cacheBytes(),
            new EntryBounds(
                EntryBounds.DEFAULT.batchBytes(),
                EntryBounds.DEFAULT.batchRecords(),
                limits.eventBytes()));
    replay();
    this.commits = new CommitBatcher(run.backlog, new HubMessages());
    this.core =
        new ApplyCore<>(
            run.id,
            machine,
            new ApplyCore.Settings(run.world.settings().snapshots().entries(), DIGEST_EVERY),
            this);
  }

  /** Applies the committed entries of the log that the flushed state lacks. */
  private void replay() {
    long before = machine.appliedIndex();
    CommittedReplay.apply(machine, run.disk.state().commit(), new Log());
    run.world
        .coverage()
        .count("committed entries applied at a start", machine.appliedIndex() - before);
  }

  private final class Log implements CommittedReplay.Log {
    @Override
    public List<Entry> read(long from, long until) {
      List<Entry> piece = run.disk.read(from, Math.min(until, from + 8), Long.MAX_VALUE);
      require(!piece.isEmpty(), "a committed entry is not in the log", run.id, from, until);
      piece.forEach(SimApplyActor.this::check);
      return piece;
    }

    @Override
    public DecodedOperation decode(Entry entry) {
      return SimApplyActor.this.decode(entry);
    }

    @Override
    public void operationApplied(Entry entry, Applied applied) {
      run.world.rules().applied(run.id, entry, applied, run.world.scheduler().nowUs());
    }

    @Override
    public void progress(long index) {
      run.world.rules().digest(run.id, index, store.digest());
      run.world.rules().versions().agrees(run.id, machine.view());
    }
  }

  void start() {
    core.start();
    run.world.rules().digest(run.id, machine.view().appliedIndex(), store.digest());
    run.world.rules().versions().agrees(run.id, machine.view());
    run.process.after(run.random.nextInt(500_000), this::flushState);
    run.process.after(run.random.nextLong(DIGEST_INTERVAL_US), this::digestInterval);
    run.process.after(SWEEP_US, this::sweepInterval);
  }

  private void digestInterval() {
    actor.tell(core::checkDigest);
    run.process.after(DIGEST_INTERVAL_US, this::digestInterval);
  }

  private void sweepInterval() {
    actor.tell(core::sweep);
    run.process.after(SWEEP_US, this::sweepInterval);
  }

  StateMachine machine() {
    return machine;
  }

  /** True while this member must not serve, because its state is not the leader's. */
  boolean isCorrupt() {
    return core.isCorrupt();
  }

  /** Changes a record of the store without the state machine, like a flipped bit. */
  boolean damage(Predicate<DigestStore> how) {
    return how.test(store);
  }

  // ---- messages

  /** Registers the callers of proposals that were made, or forwarded to a leader, in a term. */
  void expect(List<Caller> callers, long term) {
    actor.tell(
        () ->
            callers.forEach(
                caller -> core.expect(caller.id(), caller, caller.response(), term, 0)));
  }

  void refuse(RequestId id, Refusal reason) {
    actor.tell(() -> core.refuse(id, reason));
  }

  /** Compares the digest of the leader that this member follows. */
  void compareDigest(long index, long digest) {
    actor.tell(
        () -> {
          run.world.coverage().count("digests compared");
          core.compareDigest(index, digest);
        });
  }

  void leading(boolean leads, long term) {
    actor.tell(() -> core.leading(leads, term));
  }

  void awaitApplied(long index, MemberRun.ReadIndexWaiter waiter) {
    actor.tell(() -> core.awaitApplied(index, new Read(index, waiter)));
  }

  /** Applies entries. Each member splits them into other batches. */
  void take(List<Entry> entries) {
    actor.tell(
        () -> {
          for (int from = 0; from < entries.size(); ) {
            int to = Math.min(entries.size(), from + 1 + run.random.nextInt(8));
            entries.subList(from, to).forEach(this::check);
            core.apply(entries.subList(from, to));
            from = to;
          }
        });
  }

  private void check(Entry entry) {
    boolean operation = entry.kind() == Entry.Kind.OPERATION;
    run.world.rules().applying(run.id, entry, operation ? decode(entry) : null);
    if (entry.kind() == Entry.Kind.CONF_CHANGE) {
      run.world.rules().configured(MembershipCodec.decodeEntry(entry.data()));
    }
  }

  /** Stops after all earlier messages. */
  void stop(Runnable stopped) {
    actor.tell(
        () -> {
          core.stop();
          actor.send(stopped);
        });
  }

  // ---- effects: entries

  @Override
  public DecodedOperation decode(Entry entry) {
    long request = run.world.decode(entry.data());
    return new DecodedOperation(
        new RequestId(request), Requester.ANONYMOUS, run.world.operation(request));
  }

  @Override
  public void operationApplied(Entry entry, DecodedOperation operation, Applied applied) {
    run.world.rules().applied(run.id, entry, applied, run.world.scheduler().nowUs());
    RevisionChanges changes = applied.changes();
    if (changes.unlisted() != null) {
      run.world.coverage().count("revisions too large to list");
    }
    commits.add(
        new Commit(applied.revision(), changes.events(), changes.unlisted()), changes.bytes());
  }

  @Override
  public long pendingEventBytes() {
    return commits.pendingBytes();
  }

  @Override
  public void addReply(Caller caller, Result result, long index, long proposedAt) {
    if (result instanceof Result.ResponseTooLarge) {
      run.world.coverage().count("responses to writes refused for memory");
    }
    replies.add(new AppliedReply(caller, new Answer.Done(result)));
  }

  // ---- effects: batches

  @Override
  public void appliedIndex(long index) {
    run.world.rules().digest(run.id, index, store.digest());
    run.world.rules().versions().agrees(run.id, machine.view());
  }

  @Override
  public void authChanged(Operation.Auth operation, Result result) {
    throw new IllegalStateException("no client changes users or roles");
  }

  @Override
  public void rightsChanged() {
    throw new IllegalStateException("no client changes permissions");
  }

  @Override
  public void leasesChanged(List<LeaseChange> changes) {
    actor.send(() -> run.lease.changed(changes));
  }

  @Override
  public void stateCaughtUp(long term) {
    actor.send(() -> run.lease.stateCaughtUp(term));
  }

  @Override
  public void publishChanges() {
    commits.publish();
  }

  @Override
  public void completed(long index) {
    actor.send(() -> run.raft.applied(index));
  }

  @Override
  public void sendReplies() {
    for (AppliedReply each : replies) {
      actor.send(() -> each.caller().reply().accept(each.outcome()));
    }
    replies.clear();
  }

  @Override
  public void readReady(Read read) {
    actor.send(() -> read.waiter().ready(read.index()));
  }

  @Override
  public void compacted(long revision) {
    actor.send(() -> run.compaction.moved(revision));
  }

  @Override
  public void snapshotDue(long index, long term) {
    run.snapshots.due(index);
  }

  /** Sends to the watch hub. */
  private final class HubMessages implements CommitBatcher.Effects {
    private int reports;

    @Override
    public void publish(List<Commit> published, EventBacklog.Lot memory) {
      actor.send(() -> run.watch.committed(published, memory));
    }

    @Override
    public void publishMissed(MissedRevisions revisions) {
      reports++;
      actor.send(() -> run.watch.missed(revisions));
    }

    @Override
    public void publishRightsChanged() {
      throw new IllegalStateException("no client changes permissions");
    }

    @Override
    public void missed(int revisions) {
      run.world.coverage().count("revisions missed by the watch hub", revisions);
      run.world.coverage().count("missed revisions joined to a report", revisions - reports);
      reports = 0;
    }
  }

  // ---- effects: callers and leadership

  @Override
  public void refused(Caller caller, Refusal reason) {
    if (reason == Refusal.NO_LEADER) {
      run.world.coverage().count("proposals lost with their leader");
    }
    run.world.rules().rejected(caller.id());
    actor.send(() -> caller.reply().accept(new Answer.Refused(reason)));
  }

  @Override
  public void resultUnknown(Caller caller) {
    actor.send(() -> caller.reply().accept(Answer.Unknown.INSTANCE));
  }

  @Override
  public void promoted(List<Lease> leases, long term) {
    actor.send(() -> run.lease.promoted(leases, term));
  }

  @Override
  public void demoted() {
    actor.send(run.lease::demoted);
  }

  // ---- effects: divergence

  @Override
  public void publishDigest(long term, long index, long digest) {
    run.world.publishDigest(run.id, term, index, digest);
  }

  @Override
  public void raiseAlarm(Operation.AlarmActivate alarm) {
    run.raft.propose(alarm, outcome -> {});
  }

  @Override
  public void differs(DigestCheck.Difference difference) {
    require(
        run.world.rules().isDamaged(),
        "digests differ, but no member was damaged",
        run.id,
        difference);
    run.world.trace().note(run.id, "differs", difference);
    run.world.coverage().count("differences detected");
  }

  @Override
  public void corruptChanged(boolean corrupt, boolean alarmed) {
    run.world.trace().note(run.id, corrupt ? "is corrupt" : "serves again", alarmed);
  }

  // ---- the state beside entries

  /** Writes the state in memory to disk, at random intervals. */
  private void flushState() {
    run.disk.flush(store.copy(), machine.view().appliedIndex());
    run.process.after(20_000 + run.random.nextInt(1_500_000), this::flushState);
  }

  /** Returns a copy of the state and its position, for a snapshot. */
  DigestStore copyState() {
    return store.copy();
  }
}
