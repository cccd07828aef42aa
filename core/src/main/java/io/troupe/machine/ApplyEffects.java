package io.troupe.machine;

import io.troupe.lease.LeaseChange;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.Lease;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import java.util.List;

/**
 * The effects that the shell of an {@link ApplyCore} must execute. The order of the calls is the
 * order in which messages must leave this member's apply actor. An implementation never calls the
 * core from inside one of these methods: it queues.
 *
 * @param <C> identifies the caller of a proposal; each caller gets one reply at most
 * @param <Q> identifies a read that waits for an index
 */
public interface ApplyEffects<C, Q> extends DivergenceEffects {
  // ---- for each entry

  /** Decodes the operation of an entry. */
  DecodedOperation decode(Entry entry);

  /**
   * An operation was applied. Its changes must not be published before {@link #publishChanges}.
   * Called between {@link #decode} and {@link #addReply} of the same entry.
   */
  void operationApplied(Entry entry, DecodedOperation operation, Applied applied);

  /** Approximate memory of the changes that are not published yet. */
  long pendingEventBytes();

  /**
   * Adds a reply, which waits for {@link #sendReplies}.
   *
   * @param index of the entry that completes the proposal
   * @param proposedAt as in {@link ApplyCore#expect}
   */
  void addReply(C caller, Result result, long index, long proposedAt);

  // ---- for each batch, in this order, after it is written and visible to readers

  /** The state has this applied index. */
  void appliedIndex(long index);

  /** Users, roles or permissions changed. */
  void authChanged(Operation.Auth operation, Result result);

  /** Rights of clients may have changed, by one of the operations of {@link #authChanged}. */
  void rightsChanged();

  /** Leases changed, in this order. */
  void leasesChanged(List<LeaseChange> changes);

  /** Everything that was committed before this member led in the term is applied. */
  void stateCaughtUp(long term);

  /** Publishes the changes of the operations of this batch to watches. */
  void publishChanges();

  /** Completes the entries up to this index at the raft actor. */
  void completed(long index);

  /** Sends the added replies. */
  void sendReplies();

  /** The read may be served. */
  void readReady(Q read);

  /** Revisions up to this one are compacted. */
  void compacted(long revision);

  /** A snapshot is due. */
  void snapshotDue(long index, long term);

  // ---- at any time

  /** Replies that the proposal was refused and will never be applied. */
  void refused(C caller, Refusal reason);

  /** Replies that the result of the proposal is not known and will not be. */
  void resultUnknown(C caller);

  /**
   * This member became leader.
   *
   * @param leases all granted leases
   */
  void promoted(List<Lease> leases, long term);

  /** This member is no longer leader. */
  void demoted();
}
