package io.troupe.machine;

import io.troupe.lease.LeaseChange;
import io.troupe.model.AlarmType;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.txn.ResponseSpace;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the apply actor, the only writer of the state and the owner of pending replies. A
 * run of committed entries becomes one atomic batch. Replies, events and lease changes are sent
 * only after that batch is written, in log order. One thread.
 *
 * @param <C> identifies the caller of a proposal
 * @param <Q> identifies a read that waits for an index
 */
public final class ApplyCore<C, Q> {
  /** Entries of one batch. Bounds how long a reply waits for the rest of its batch. */
  private static final int MAX_BATCH = 512;

  /** Bytes of one batch, as changes of the state or as events: bounds its memory. */
  private static final long MAX_BATCH_BYTES = 2 << 20;

  /**
   * Settings of a core.
   *
   * @param snapshotCount entries between two snapshots
   * @param digestEvery entries between two digests of a leader; up to one batch more
   */
  public record Settings(long snapshotCount, int digestEvery) {}

  private record Pending<C>(
      C caller, MemoryBudget.@Nullable Share response, long term, long sweep, long proposedAt) {}

  private record AuthChange(Operation.Auth operation, Result result) {}

  private final NodeId self;
  private final StateMachine machine;
  private final Settings settings;
  private final ApplyEffects<C, Q> effects;
  private final DivergenceDetector divergence;
  private final Map<Long, Pending<C>> waiting = new LinkedHashMap<>();
  private final TreeMap<Long, List<Q>> reads = new TreeMap<>();
  private final List<LeaseChange> leaseChanges = new ArrayList<>();
  private final List<AuthChange> authChanges = new ArrayList<>();

  /** Term of the last applied entry. */
  private long appliedTerm;

  /** Term in which this member leads and of which it has not applied an entry yet; otherwise 0. */
  private long unsettledTerm;

  private @Nullable RequestId incomplete;
  private long compactedRevision;
  private long snapshotIndex;
  private long sweeps;

  /** Starts with the state as it was opened. */
  public ApplyCore(
      NodeId self, StateMachine machine, Settings settings, ApplyEffects<C, Q> effects) {
    this.self = self;
    this.machine = machine;
    this.settings = settings;
    this.effects = effects;
    this.compactedRevision = machine.reader().view().compactedRevision();
    this.snapshotIndex = machine.appliedIndex();
    this.appliedTerm = machine.view().appliedTerm();
    this.divergence =
        new DivergenceDetector(
            self, settings.digestEvery(), machine.appliedIndex(), machine.digest(), effects);
  }

  /** Called once, before any other input. */
  public void start() {
    divergence.committed(isAlarmed());
  }

  private boolean isAlarmed() {
    return machine.view().isAlarmed(self, AlarmType.CORRUPT);
  }

  /** True while this member must not serve, because its state is not the leader's. */
  public boolean isCorrupt() {
    return divergence.isCorrupt();
  }

  /**
   * Registers the caller of a proposal. Must precede the entry.
   *
   * @param response counts the records of the response; null if it needs none
   * @param term term in which it was proposed here or forwarded to that term's leader. If an entry
   *     of a later term is applied before it, it never will be applied
   * @param proposedAt any number, for the reply
   */
  public void expect(
      RequestId id, C caller, MemoryBudget.@Nullable Share response, long term, long proposedAt) {
    waiting.put(id.value(), new Pending<>(caller, response, term, sweeps, proposedAt));
  }

  /** The proposal was refused and will never be applied. */
  public void refuse(RequestId id, Refusal reason) {
    Pending<C> who = waiting.remove(id.value());
    if (who != null) {
      effects.refused(who.caller(), reason);
    }
  }

  /** The leader that this member follows has this digest at an index. */
  public void compareDigest(long index, long digest) {
    divergence.compare(index, digest);
  }

  /** Called at the interval of digests. */
  public void checkDigest() {
    divergence.check();
  }

  /**
   * This member became leader, or is no longer leader.
   *
   * @param term term in which it leads, or in which it stopped leading
   */
  public void leading(boolean leads, long term) {
    divergence.leading(leads ? term : 0);
    unsettledTerm = leads ? term : 0;
    if (leads) {
      effects.promoted(machine.reader().leases(), term);
    } else {
      effects.demoted();
    }
  }

  /** A read waits until an index is applied. */
  public void awaitApplied(long index, Q read) {
    if (index <= machine.view().appliedIndex()) {
      effects.readReady(read);
    } else {
      reads.computeIfAbsent(index, i -> new ArrayList<>()).add(read);
    }
  }

  /** Applies committed entries, each index once and in order. */
  public void apply(List<Entry> entries) {
    int inBatch = 0;
    for (Entry entry : entries) {
      apply(entry);
      inBatch++;
      if (inBatch == MAX_BATCH
          || effects.pendingEventBytes() >= MAX_BATCH_BYTES
          || machine.pendingBytes() >= MAX_BATCH_BYTES) {
        endBatch();
        inBatch = 0;
      }
    }
    if (inBatch > 0) {
      endBatch();
    }
  }

  private void endBatch() {
    machine.commit();
    distribute();
  }

  private void apply(Entry entry) {
    switch (entry.kind()) {
      case NOOP -> machine.noop(entry.index(), entry.term());
      case CONF_CHANGE -> confChange(entry, MembershipCodec.decodeEntry(entry.data()));
      case OPERATION -> operation(entry, effects.decode(entry));
    }
    divergence.applied(machine.appliedIndex(), machine.digest());
  }

  private void operation(Entry entry, DecodedOperation decoded) {
    Applied applied =
        machine.apply(
            entry.index(),
            entry.term(),
            decoded.requester(),
            decoded.operation(),
            response(decoded.id()));
    effects.operationApplied(entry, decoded, applied);
    leaseChanges.addAll(applied.leaseChanges());
    if (decoded.operation() instanceof Operation.Auth change
        && !(applied.result() instanceof Result.Refused)) {
      authChanges.add(new AuthChange(change, applied.result()));
    }
    addReply(decoded.id(), applied.result(), entry.index());
  }

  /** Collects a response only if a caller on this member waits for it. */
  private ResponseSpace response(RequestId id) {
    Pending<C> caller = waiting.get(id.value());
    return caller == null || caller.response() == null
        ? ResponseSpace.none()
        : ResponseSpace.of(caller.response());
  }

  private void addReply(RequestId id, Result result, long index) {
    Pending<C> who = waiting.remove(id.value());
    if (who != null) {
      effects.addReply(who.caller(), result, index, who.proposedAt());
    }
  }

  /**
   * The caller that removes a voter gets its reply with the entry that completes the transition.
   * Until then the voter is needed, and its process must not be stopped.
   */
  private void confChange(Entry entry, ConfEntry change) {
    Applied applied = machine.confChange(entry.index(), entry.term(), change);
    RequestId id = change.id();
    if (id != null && change.isComplete()) {
      addReply(id, applied.result(), entry.index());
    } else if (id != null) {
      incomplete = id;
    }
    if (incomplete != null && change.after().isTransitionComplete()) {
      addReply(incomplete, applied.result(), entry.index());
      incomplete = null;
    }
  }

  /** Publishes the batch, which is written and visible to readers. */
  private void distribute() {
    long index = machine.view().appliedIndex();
    effects.appliedIndex(index);
    divergence.committed(isAlarmed());
    publishAuthChanges();
    // Leases first: a client that learns that its grant was applied finds the lease counted.
    if (!leaseChanges.isEmpty()) {
      effects.leasesChanged(List.copyOf(leaseChanges));
      leaseChanges.clear();
    }
    if (unsettledTerm != 0 && machine.view().appliedTerm() == unsettledTerm) {
      effects.stateCaughtUp(unsettledTerm);
      unsettledTerm = 0;
    }
    // Watches before replies: a client that learns that its write was applied may request the
    // progress of its watch (W16).
    effects.publishChanges();
    // After all of these: from here on the raft actor reports this index as applied, and its
    // reports must not overtake them.
    effects.completed(index);
    effects.sendReplies();
    refuseLost();
    releaseReads(index);
    afterwards(index);
  }

  /**
   * Refuses the pending proposals of earlier terms that were lost. A proposal that an earlier
   * leader accepted is in the log before the first entry of a later term, or never will be: each
   * later leader has all entries up to that one, and no entry of an earlier term after it.
   */
  private void refuseLost() {
    long term = machine.view().appliedTerm();
    if (term == appliedTerm) {
      return;
    }
    appliedTerm = term;
    RequestId begun = incomplete;
    waiting
        .entrySet()
        .removeIf(
            entry -> {
              boolean lost =
                  entry.getValue().term() < term
                      && (begun == null || entry.getKey() != begun.value());
              if (lost) {
                effects.refused(entry.getValue().caller(), Refusal.NO_LEADER);
              }
              return lost;
            });
  }

  /**
   * Precedes the commits, so that a watcher without the right sees no change made after its
   * revocation.
   */
  private void publishAuthChanges() {
    if (authChanges.isEmpty()) {
      return;
    }
    authChanges.forEach(change -> effects.authChanged(change.operation(), change.result()));
    boolean rights =
        authChanges.stream()
            .anyMatch(change -> !(change.operation() instanceof Operation.Authenticate));
    if (rights) {
      effects.rightsChanged();
    }
    authChanges.clear();
  }

  private void releaseReads(long index) {
    while (!reads.isEmpty() && reads.firstKey() <= index) {
      reads.pollFirstEntry().getValue().forEach(effects::readReady);
    }
  }

  private void afterwards(long index) {
    long compacted = machine.reader().view().compactedRevision();
    if (compacted != compactedRevision) {
      compactedRevision = compacted;
      effects.compacted(compacted);
    }
    if (index - snapshotIndex >= settings.snapshotCount()) {
      snapshotIndex = index;
      effects.snapshotDue(index, machine.view().appliedTerm());
    }
  }

  /**
   * Drops the callers whose entries never came, after one to two intervals of this call. The
   * entries were lost with their leader, and the requests of the callers have timed out.
   */
  public void sweep() {
    sweeps++;
    waiting.values().removeIf(who -> who.sweep() + 1 < sweeps);
  }

  /**
   * The last input. The state is replaced, or the member stops: entries whose callers still wait
   * are not applied here.
   */
  public void stop() {
    waiting.values().forEach(who -> effects.resultUnknown(who.caller()));
    waiting.clear();
  }
}
