package io.troupe.txn;

import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import org.jspecify.annotations.Nullable;

/** Checks that need only the form of a request, before it is proposed. Pure functions. */
public final class RequestChecks {
  private RequestChecks() {}

  /**
   * G1: a key must be present; unknown enum numbers never reach the model. Returns null if the
   * request is valid.
   */
  public static @Nullable Refusal range(RangeQuery query) {
    return key(query.range().key());
  }

  /** P1. */
  public static @Nullable Refusal put(Operation.Put put) {
    if (put.key().isEmpty()) {
      return Refusal.KEY_NOT_PROVIDED;
    }
    if (put.ignoreValue() && !put.value().isEmpty()) {
      return Refusal.VALUE_PROVIDED;
    }
    return put.ignoreLease() && put.lease() != 0 ? Refusal.LEASE_PROVIDED : null;
  }

  /** D1. */
  public static @Nullable Refusal deleteRange(Operation.DeleteRange delete) {
    return key(delete.range().key());
  }

  /** X2-X5; see {@link TxnLimits}. */
  public static @Nullable Refusal txn(Operation.Txn txn, int maxOps) {
    return TxnLimits.check(txn, maxOps);
  }

  /** Checks one operation of a branch; {@link TxnLimits} checks nested transactions. */
  static @Nullable Refusal leaf(TxnOp op) {
    if (op instanceof Operation.Put put) {
      return put(put);
    }
    if (op instanceof Operation.Range range) {
      return range(range.query());
    }
    if (op instanceof Operation.DeleteRange delete) {
      return deleteRange(delete);
    }
    return op instanceof Operation.Invalid invalid ? invalid.reason() : null;
  }

  private static @Nullable Refusal key(Bytes key) {
    return key.isEmpty() ? Refusal.KEY_NOT_PROVIDED : null;
  }
}
