package io.troupe.model;

import java.util.List;

/**
 * What a log entry asks of the state. Applying one depends on nothing but the state and the
 * operation. Shapes are already checked (keys present, limits kept, no duplicate keys in a
 * transaction); what depends on the state is checked at apply.
 */
public sealed interface Operation {

  /** What may stand in a transaction's branch. */
  sealed interface TxnOp {}

  /** A read inside a transaction. */
  record Range(RangeQuery query) implements TxnOp {}

  /**
   * Writes one key (2.5).
   *
   * @param lease lease to attach, 0 for none
   * @param prevKv whether the answer carries the former record
   * @param ignoreValue keep the current value
   * @param ignoreLease keep the current lease
   */
  record Put(
      Bytes key, Bytes value, long lease, boolean prevKv, boolean ignoreValue, boolean ignoreLease)
      implements Operation, TxnOp {}

  /** Deletes every key of a range (2.6). */
  record DeleteRange(KeyRange range, boolean prevKv) implements Operation, TxnOp {}

  /** A transaction (2.7); nested ones are {@link TxnOp}s. */
  record Txn(List<Compare> compares, List<TxnOp> success, List<TxnOp> failure)
      implements Operation, TxnOp {
    public Txn {
      compares = List.copyOf(compares);
      success = List.copyOf(success);
      failure = List.copyOf(failure);
    }
  }

  /**
   * Moves the compacted revision (2.8). Whether the answer waits for the removal is the proposer's
   * matter.
   */
  record Compact(long revision) implements Operation {}

  /**
   * Makes a lease (2.10).
   *
   * @param id already chosen, not 0
   * @param ttlSeconds effective: the minimum is already applied
   */
  record LeaseGrant(long id, long ttlSeconds) implements Operation {}

  /** Ends a lease and deletes its keys in one revision. */
  record LeaseRevoke(long id) implements Operation {}

  /** Remembers how much of a lease was left, for the next leader (L12). */
  record LeaseCheckpoint(long id, long remainingSeconds) implements Operation {}

  /** Lists alarms through the log (MT3). NONE lists all. */
  record AlarmGet(AlarmType type) implements Operation {}

  /** Raises an alarm. */
  record AlarmActivate(NodeId member, AlarmType type) implements Operation {}

  /** Ends an alarm. */
  record AlarmDeactivate(NodeId member, AlarmType type) implements Operation {}

  /** A member tells its name and client URLs (M3). */
  record PublishMember(NodeId member, String name, List<String> clientUrls) implements Operation {
    public PublishMember {
      clientUrls = List.copyOf(clientUrls);
    }
  }
}
