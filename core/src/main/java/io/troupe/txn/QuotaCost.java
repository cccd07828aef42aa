package io.troupe.txn;

import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import java.util.List;

/**
 * Number of bytes that a request is assumed to add to the store, for the quota.
 *
 * @source Q1
 */
public final class QuotaCost {
  private static final long PUT_BYTES = 256;
  private static final long LEASE_BYTES = 64;

  private QuotaCost() {}

  /** The cost in bytes, 0 or more; 0 is never refused. */
  public static long of(Operation operation) {
    if (operation instanceof Operation.Put put) {
      return put(put);
    }
    if (operation instanceof Operation.Txn txn) {
      return txn(txn);
    }
    return operation instanceof Operation.LeaseGrant ? LEASE_BYTES : 0;
  }

  private static long put(Operation.Put put) {
    return PUT_BYTES + put.key().length() + put.value().length();
  }

  private static long txn(Operation.Txn txn) {
    return Math.max(branch(txn.success()), branch(txn.failure()));
  }

  private static long branch(List<TxnOp> ops) {
    long sum = 0;
    for (int i = 0; i < ops.size(); i++) {
      TxnOp op = ops.get(i);
      if (op instanceof Operation.Put put) {
        sum += put(put);
      } else if (op instanceof Operation.Txn nested) {
        sum += txn(nested);
      }
    }
    return sum;
  }
}
