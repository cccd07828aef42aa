package io.troupe.txn;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.MvccStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Runs changing requests on the writer's store (2.5-2.7). A request is refused before it changes
 * anything; the caller ends it with {@link MvccStore#finish}. Shapes are checked already.
 */
public final class WriteEvaluator {
  private final MvccStore store;
  private final LongPredicate leaseExists;

  /**
   * Works on {@code store}.
   *
   * @param leaseExists whether a lease is granted, at the time of the call
   */
  public WriteEvaluator(MvccStore store, LongPredicate leaseExists) {
    this.store = store;
    this.leaseExists = leaseExists;
  }

  /** Runs a put: {@link Result.Put} or {@link Result.Refused} (P2-P6). */
  public Result put(Operation.Put put) {
    if (put.lease() != 0 && !leaseExists.test(put.lease())) {
      return new Result.Refused(Refusal.LEASE_NOT_FOUND);
    }
    if ((put.ignoreValue() || put.ignoreLease()) && store.get(put.key()) == null) {
      return new Result.Refused(Refusal.KEY_NOT_FOUND);
    }
    return write(put);
  }

  /** Runs a deletion (2.6). */
  public Result.DeleteRange delete(Operation.DeleteRange delete) {
    List<KeyValue> before = store.delete(delete.range());
    return new Result.DeleteRange(
        store.headerRevision(),
        before.size(),
        delete.prevKv() ? Collections.unmodifiableList(before) : List.of());
  }

  /** Deletes these keys as part of the current request. */
  public void deleteKeys(List<Bytes> keys) {
    for (int i = 0; i < keys.size(); i++) {
      store.delete(KeyRange.single(keys.get(i)));
    }
  }

  /** Runs a transaction: {@link Result.Txn} or {@link Result.Refused} (X1, X6-X13). */
  public Result txn(Operation.Txn txn) {
    TxnPath path = TxnPath.decide(txn, store);
    Refusal refusal = path.refusal(store, leaseExists);
    if (refusal != null) {
      return new Result.Refused(refusal);
    }
    List<Result> responses = run(path);
    return new Result.Txn(store.headerRevision(), path.succeeded(), responses);
  }

  private List<Result> run(TxnPath path) {
    List<Result> responses = new ArrayList<>(path.branch().size());
    int nested = 0;
    for (int i = 0; i < path.branch().size(); i++) {
      TxnOp op = path.branch().get(i);
      if (op instanceof Operation.Put put) {
        responses.add(write(put));
      } else if (op instanceof Operation.DeleteRange delete) {
        responses.add(delete(delete));
      } else if (op instanceof Operation.Range range) {
        RangeResult found = store.range(range.query());
        responses.add(new Result.Range(found));
      } else {
        // R6: the header of a nested answer is empty.
        TxnPath inner = path.nested().get(nested++);
        responses.add(new Result.Txn(0, inner.succeeded(), run(inner)));
      }
    }
    return Collections.unmodifiableList(responses);
  }

  /** P3: what is to be kept is taken from the record before. */
  private Result.Put write(Operation.Put put) {
    KeyValue kept = put.ignoreValue() || put.ignoreLease() ? store.get(put.key()) : null;
    Bytes value = kept != null && put.ignoreValue() ? kept.value() : put.value();
    long lease = kept != null && put.ignoreLease() ? kept.lease() : put.lease();
    @Nullable KeyValue before = store.put(put.key(), value, lease);
    return new Result.Put(store.headerRevision(), put.prevKv() ? before : null);
  }
}
