package io.troupe.txn;

import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.mvcc.KvRead;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The branches of a transaction and of its nested transactions that run. They are chosen from the
 * state before the transaction (X8). All of them run, or none (X10).
 *
 * @param succeeded true if the compares hold
 * @param branch the operations that run
 * @param nested the paths of the transactions in {@code branch}, in order
 */
record TxnPath(boolean succeeded, List<TxnOp> branch, List<TxnPath> nested) {

  static TxnPath decide(Operation.Txn txn, KvRead before) {
    boolean succeeded = Compares.allHold(txn.compares(), before);
    List<TxnOp> branch = succeeded ? txn.success() : txn.failure();
    List<TxnPath> nested = List.of();
    for (int i = 0; i < branch.size(); i++) {
      if (branch.get(i) instanceof Operation.Txn inner) {
        nested = nested.isEmpty() ? new ArrayList<>(4) : nested;
        nested.add(decide(inner, before));
      }
    }
    return new TxnPath(succeeded, branch, nested);
  }

  /**
   * Returns the reason for which the path cannot run in that state: the error of the first failing
   * operation, in the order of the request. Returns null if all can run.
   *
   * @param leaseExists tests if a lease is granted
   */
  @Nullable Refusal refusal(KvRead before, LongPredicate leaseExists) {
    int inner = 0;
    for (int i = 0; i < branch.size(); i++) {
      TxnOp op = branch.get(i);
      Refusal refusal = null;
      if (op instanceof Operation.Put put) {
        refusal = putRefusal(put, before, leaseExists);
      } else if (op instanceof Operation.Range range) {
        refusal = rangeRefusal(range.query(), before);
      } else if (op instanceof Operation.Txn) {
        refusal = nested.get(inner++).refusal(before, leaseExists);
      } else if (op instanceof Operation.Invalid invalid) {
        refusal = invalid.reason();
      }
      if (refusal != null) {
        return refusal;
      }
    }
    return null;
  }

  /** P2 before P3, for puts inside and outside of transactions. */
  static @Nullable Refusal putRefusal(Operation.Put put, KvRead before, LongPredicate leaseExists) {
    if (put.lease() != 0 && !leaseExists.test(put.lease())) {
      return Refusal.LEASE_NOT_FOUND;
    }
    boolean keeps = put.ignoreValue() || put.ignoreLease();
    return keeps && before.get(put.key()) == null ? Refusal.KEY_NOT_FOUND : null;
  }

  /** X10's quirk: here a negative revision is compared with the compacted one, too. */
  private static @Nullable Refusal rangeRefusal(RangeQuery query, KvRead before) {
    if (query.revision() == 0) {
      return null;
    }
    if (query.revision() > before.revision()) {
      return Refusal.FUTURE_REVISION;
    }
    return query.revision() < before.compactedRevision() ? Refusal.COMPACTED : null;
  }
}
