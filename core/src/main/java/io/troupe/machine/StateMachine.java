package io.troupe.machine;

import io.troupe.auth.Authorizer;
import io.troupe.lease.LeaseBook;
import io.troupe.lease.LeaseChange;
import io.troupe.lease.LeaseRecords;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.Invariant;
import io.troupe.model.Lease;
import io.troupe.model.MemberAttributes;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.mvcc.Compactor;
import io.troupe.mvcc.CountBounds;
import io.troupe.mvcc.EntryBounds;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.MvccReader;
import io.troupe.mvcc.MvccStore;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.RevisionChanges;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.txn.QuotaCost;
import io.troupe.txn.ResponseSpace;
import io.troupe.txn.WriteEvaluator;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Applies committed entries in log order. The outcome depends on the state and the entry alone: no
 * clock, no setting, no randomness, no order of a hash map. One thread calls the methods that
 * change; {@link #reader}, {@link #view} and {@link #compactor} are for any thread.
 *
 * <p>Any number of entries may be applied before one {@link #commit}; later ones see earlier ones.
 * A crash before the commit loses them together with the applied index, so they are applied again
 * from the log.
 */
public final class StateMachine implements AutoCloseable {
  private final MvccStore store;
  private final WriteEvaluator writes;
  private final LeaseBook leases;
  private final ClusterState facts;
  private final AuthTables auth;
  private volatile StateView view;

  /**
   * Opens the state in the store.
   *
   * @param rows outlives this object and is closed by its owner
   * @param cacheBytes memory limit for the newest records of keys
   */
  public StateMachine(OrderedStore rows, long cacheBytes) {
    this(rows, cacheBytes, EntryBounds.DEFAULT);
  }

  /** Opens the state with other memory limits for the application of one entry. */
  public StateMachine(OrderedStore rows, long cacheBytes, EntryBounds bounds) {
    this(rows, cacheBytes, bounds, CountBounds.ofHeap());
  }

  /** Opens the state with other limits also for the counts of live keys. */
  public StateMachine(
      OrderedStore rows, long cacheBytes, EntryBounds bounds, CountBounds countBounds) {
    this.store = new MvccStore(rows, cacheBytes, bounds, countBounds);
    this.leases = new LeaseBook(store.reader().leases(), new LeaseRows());
    this.writes = new WriteEvaluator(store, leases::contains);
    this.facts = new ClusterState(store, rows);
    this.auth = new AuthTables(store, rows);
    this.view = facts.view(store.appliedIndex(), store.appliedTerm(), auth.state());
  }

  /** Index of the last applied entry; the next one is one above. */
  public long appliedIndex() {
    return store.appliedIndex();
  }

  /**
   * A digest of the effects of all entries up to {@link #appliedIndex}. If members that applied the
   * same entries have different digests, the effects of an entry differed; different effects give
   * equal digests only with negligible probability.
   */
  public long digest() {
    return store.digest();
  }

  /** Current main revision, including entries that are not committed to the store yet. */
  public long currentRevision() {
    return store.revision();
  }

  /** Reads of the committed state; any thread. */
  public MvccReader reader() {
    return store.reader();
  }

  /** Removes compacted versions; for any one thread. */
  public Compactor compactor() {
    return store.compactor();
  }

  /** Committed state other than keys; any thread. */
  public StateView view() {
    return view;
  }

  /** The granted leases; the applying thread only. */
  public LeaseBook leases() {
    return leases;
  }

  /**
   * Applies an operation of a client without a user name; while authentication is disabled these
   * are all clients.
   *
   * @see #apply(long, long, Requester, Operation)
   */
  public Applied apply(long index, long term, Operation operation) {
    return apply(index, term, Requester.ANONYMOUS, operation);
  }

  /** Applies an operation whose response is not limited. */
  public Applied apply(long index, long term, Requester who, Operation operation) {
    return apply(index, term, who, operation, ResponseSpace.unlimited());
  }

  /**
   * Applies an operation, or refuses it if the requester has no permission in the current state.
   *
   * @param index one above {@link #appliedIndex}
   * @param response for the records of the result, on the member whose client waits; the effect of
   *     the operation on the state never depends on it
   * @throws io.troupe.model.Invariant.Broken on a gap or a repeat, before anything is changed
   */
  public Applied apply(
      long index, long term, Requester who, Operation operation, ResponseSpace response) {
    store.requireNext(index, term);
    Refusal refusal = new Authorizer(auth.state(), store::allAttached).operation(who, operation);
    if (refusal == null) {
      refusal = alarmRefusal(operation);
    }
    Applied applied = refusal != null ? refused(refusal) : run(index, operation, response);
    store.applied(index, term);
    return applied;
  }

  /** Applies an entry that changes nothing (the first entry of a new leader). */
  public void noop(long index, long term) {
    store.requireNext(index, term);
    store.applied(index, term);
  }

  /**
   * Applies a membership change: the new membership, its addresses, and the deletion of the
   * attributes of removed members. Saved together with the applied index and visible in {@link
   * #view}.
   *
   * @return Done; {@link ConfEntry#isComplete} decides whether that completes the request
   * @throws io.troupe.model.Invariant.Broken on a gap, a repeat, or a membership of another entry,
   *     before anything is changed
   */
  public Applied confChange(long index, long term, ConfEntry entry) {
    store.requireNext(index, term);
    Invariant.require(
        entry.after().version() == index,
        "membership version differs from the index of its entry",
        entry.after().version(),
        index);
    facts.change(entry);
    store.applied(index, term);
    return unchanged(new Result.Done(store.revision()), List.of());
  }

  /** Approximate memory of the changes since the last {@link #commit}, in bytes. */
  public long pendingBytes() {
    return store.pendingBytes();
  }

  /** Makes all applied entries as durable as the store is, and visible to readers. */
  public void commit() {
    store.commit();
    view = facts.view(store.appliedIndex(), store.appliedTerm(), auth.state());
  }

  /** Releases the resources of the store, which its owner closes next; for any thread. */
  @Override
  public void close() {
    store.close();
  }

  /** Q2 and Q4: requests that alarms refuse; CORRUPT takes precedence. */
  private @Nullable Refusal alarmRefusal(Operation operation) {
    if (facts.isAlarmed(AlarmType.CORRUPT) && isRefusedWhenCorrupt(operation)) {
      return Refusal.CORRUPT;
    }
    return facts.isAlarmed(AlarmType.NOSPACE) && QuotaCost.of(operation) > 0
        ? Refusal.NO_SPACE
        : null;
  }

  private static boolean isRefusedWhenCorrupt(Operation operation) {
    return operation instanceof Operation.Put
        || operation instanceof Operation.DeleteRange
        || operation instanceof Operation.Txn
        || operation instanceof Operation.Compact
        || operation instanceof Operation.LeaseGrant
        || operation instanceof Operation.LeaseRevoke;
  }

  private Applied run(long index, Operation operation, ResponseSpace response) {
    if (operation instanceof Operation.Put put) {
      return changed(response.check(writes.put(put, response)), List.of());
    }
    if (operation instanceof Operation.Txn txn) {
      return changed(response.check(writes.txn(txn, response)), List.of());
    }
    if (operation instanceof Operation.DeleteRange delete) {
      return changed(response.check(writes.delete(delete, response)), List.of());
    }
    if (operation instanceof Operation.LeaseGrant grant) {
      return grant(grant);
    }
    if (operation instanceof Operation.LeaseRevoke revoke) {
      return revoke(revoke.id());
    }
    if (operation instanceof Operation.LeaseCheckpoint checkpoint) {
      return checkpoint(checkpoint);
    }
    if (operation instanceof Operation.Compact compact) {
      Refusal refusal = store.compact(compact.revision());
      return refusal != null
          ? refused(refusal)
          : unchanged(new Result.Compact(store.revision()), List.of());
    }
    if (operation instanceof Operation.Auth change) {
      return unchanged(auth.apply(index, change), List.of());
    }
    return runFact(operation);
  }

  private Applied runFact(Operation operation) {
    if (operation instanceof Operation.AlarmGet get) {
      return alarms(facts.alarms(get.type()));
    }
    if (operation instanceof Operation.AlarmActivate activate) {
      return alarms(facts.activate(activate.member(), activate.type()));
    }
    if (operation instanceof Operation.AlarmDeactivate deactivate) {
      return alarms(facts.deactivate(deactivate.member(), deactivate.type()));
    }
    if (operation instanceof Operation.PublishMember publish) {
      facts.publish(new MemberAttributes(publish.member(), publish.name(), publish.clientUrls()));
      return unchanged(new Result.Done(store.revision()), List.of());
    }
    if (operation instanceof Operation.Versions change) {
      Refusal refusal = facts.changeVersions(change);
      return refusal != null
          ? refused(refusal)
          : unchanged(new Result.Done(store.revision()), List.of());
    }
    throw new IllegalArgumentException("no rule for " + operation.getClass());
  }

  private Applied grant(Operation.LeaseGrant grant) {
    Refusal refusal = leases.grant(grant.id(), grant.ttlSeconds());
    return refusal != null
        ? refused(refusal)
        : unchanged(
            new Result.LeaseGrant(store.revision(), grant.id(), grant.ttlSeconds()),
            List.of(new LeaseChange.Granted(grant.id(), grant.ttlSeconds())));
  }

  /** L9: the keys are deleted in key order and in one revision. */
  private Applied revoke(long id) {
    Refusal refusal = leases.revoke(id);
    if (refusal != null) {
      return refused(refusal);
    }
    store.deleteAttached(id);
    return changed(
        new Result.LeaseRevoke(store.headerRevision()), List.of(new LeaseChange.Revoked(id)));
  }

  private Applied checkpoint(Operation.LeaseCheckpoint checkpoint) {
    List<LeaseChange> changes = new ArrayList<>(checkpoint.leases().size());
    for (Operation.LeaseCheckpoint.Remaining lease : checkpoint.leases()) {
      if (leases.checkpoint(lease.id(), lease.seconds())) {
        changes.add(new LeaseChange.Checkpointed(lease.id(), lease.seconds()));
      }
    }
    return unchanged(new Result.Done(store.revision()), changes);
  }

  private Applied alarms(List<AlarmMember> alarms) {
    return unchanged(new Result.Alarms(store.revision(), alarms), List.of());
  }

  /** Completes a request that may have changed keys. */
  private Applied changed(Result result, List<LeaseChange> leaseChanges) {
    RevisionChanges changes = store.finish();
    return new Applied(result, store.revision(), changes, leaseChanges);
  }

  private Applied unchanged(Result result, List<LeaseChange> leaseChanges) {
    return new Applied(result, store.revision(), RevisionChanges.NONE, leaseChanges);
  }

  private Applied refused(Refusal refusal) {
    return unchanged(new Result.Refused(refusal), List.of());
  }

  private final class LeaseRows implements LeaseRecords {
    @Override
    public void save(Lease lease) {
      store.putRow(Space.LEASE, MetaRows.grant(lease.id()), MetaRows.value(lease));
    }

    @Override
    public void remove(long id) {
      store.removeRow(Space.LEASE, MetaRows.grant(id));
    }
  }
}
