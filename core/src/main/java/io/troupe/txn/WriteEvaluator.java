package io.troupe.txn;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
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
 * anything; the caller completes it with {@link MvccStore#finish}. The form of a request is already
 * checked.
 */
public final class WriteEvaluator {
  private final MvccStore store;
  private final LongPredicate leaseExists;

  /**
   * Works on {@code store}.
   *
   * @param leaseExists tests if a lease is granted, at the time of the call
   */
  public WriteEvaluator(MvccStore store, LongPredicate leaseExists) {
    this.store = store;
    this.leaseExists = leaseExists;
  }

  /** Runs a put: {@link Result.Put} or {@link Result.Refused} (P2-P6). */
  public Result put(Operation.Put put, ResponseSpace response) {
    Refusal refusal = TxnPath.putRefusal(put, store, leaseExists);
    return refusal != null ? new Result.Refused(refusal) : write(put, response);
  }

  /** Runs a deletion (2.6). */
  public Result.DeleteRange delete(Operation.DeleteRange delete, ResponseSpace response) {
    List<KeyValue> previous = new ArrayList<>(delete.prevKv() ? 4 : 0);
    boolean[] gathers = {delete.prevKv()};
    long deleted =
        store.delete(
            delete.range(),
            old -> {
              gathers[0] = gathers[0] && response.add(old);
              if (gathers[0]) {
                previous.add(old);
              }
            });
    return new Result.DeleteRange(
        store.headerRevision(), deleted, Collections.unmodifiableList(previous));
  }

  /** Runs a transaction: {@link Result.Txn} or {@link Result.Refused} (X1, X6-X13). */
  public Result txn(Operation.Txn txn, ResponseSpace response) {
    TxnPath path = TxnPath.decide(txn, store);
    Refusal refusal = path.refusal(store, leaseExists);
    if (refusal != null) {
      return new Result.Refused(refusal);
    }
    List<Result> responses = run(path, response);
    return new Result.Txn(store.headerRevision(), path.succeeded(), responses);
  }

  private List<Result> run(TxnPath path, ResponseSpace response) {
    List<Result> responses = new ArrayList<>(path.branch().size());
    int nested = 0;
    for (int i = 0; i < path.branch().size(); i++) {
      TxnOp op = path.branch().get(i);
      if (op instanceof Operation.Txn) {
        // R6: the header of a nested response is empty.
        TxnPath inner = path.nested().get(nested++);
        responses.add(new Result.Txn(0, inner.succeeded(), run(inner, response)));
      } else if (op instanceof Operation.Range range) {
        Result.Range found = response.range(range.query(), store::range);
        responses.add(found == null ? Result.NotGathered.INSTANCE : found);
      } else {
        Result done =
            op instanceof Operation.Put put
                ? write(put, response)
                : delete((Operation.DeleteRange) op, response);
        responses.add(response.addResponse() ? done : Result.NotGathered.INSTANCE);
      }
    }
    return Collections.unmodifiableList(responses);
  }

  /** P3: fields that the request keeps are copied from the previous record. */
  private Result.Put write(Operation.Put put, ResponseSpace response) {
    KeyValue kept = put.ignoreValue() || put.ignoreLease() ? store.get(put.key()) : null;
    Bytes value = kept != null && put.ignoreValue() ? kept.value() : put.value();
    long lease = kept != null && put.ignoreLease() ? kept.lease() : put.lease();
    @Nullable KeyValue before = store.put(put.key(), value, lease);
    boolean shown = put.prevKv() && before != null && response.add(before);
    return new Result.Put(store.headerRevision(), shown ? before : null);
  }
}
