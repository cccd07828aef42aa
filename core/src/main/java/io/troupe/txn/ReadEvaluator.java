package io.troupe.txn;

import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.MvccReader;
import io.troupe.mvcc.SnapshotRead;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs transactions that only read (X11), nested ones included, on committed state. For any thread.
 */
public final class ReadEvaluator {
  private final MvccReader reader;

  /** Reads through {@code reader}. */
  public ReadEvaluator(MvccReader reader) {
    this.reader = reader;
  }

  /**
   * Runs a transaction at the current revision: {@link Result.Txn} or {@link Result.Refused}.
   *
   * @param txn {@link TxnLimits#isReadOnly}
   * @param share counts the results; the caller releases it after use
   * @throws IllegalArgumentException if it contains a put or a deletion
   */
  public Result txn(Operation.Txn txn, MemoryBudget.Share share) {
    if (!TxnLimits.isReadOnly(txn)) {
      throw new IllegalArgumentException("transaction contains a write and must be proposed");
    }
    while (true) {
      try {
        SnapshotRead state = reader.pin(share);
        Result result = at(txn, state, share);
        // A compaction removed the revision: retry in a newer state, which also refuses revisions
        // that are too old.
        if (!state.isLost()) {
          return result;
        }
        share.shrinkTo(0);
      } catch (MemoryBudget.Exceeded exceeded) {
        return new Result.Refused(exceeded.reason());
      }
    }
  }

  /**
   * Checks that the compares of a writing transaction stay within a limit in the current state.
   *
   * @param share of the call: the walk stops when it is closed
   * @return null if they do; otherwise the refusal, also if the client no longer waits
   */
  public @Nullable Refusal refusal(
      Operation.Txn txn, CompareLimit limit, MemoryBudget.Share share) {
    try {
      return limit.holds(txn, reader.pin(share)) ? null : Refusal.TOO_MANY_COMPARED;
    } catch (MemoryBudget.Exceeded left) {
      return left.reason();
    }
  }

  private static Result at(Operation.Txn txn, SnapshotRead state, MemoryBudget.Share share) {
    TxnPath path = TxnPath.decide(txn, state);
    Refusal refusal = path.refusal(state, lease -> false);
    return refusal != null
        ? new Result.Refused(refusal)
        : new Result.Txn(state.revision(), path.succeeded(), run(path, state, share));
  }

  private static List<Result> run(TxnPath path, SnapshotRead state, MemoryBudget.Share share) {
    List<Result> responses = new ArrayList<>(path.branch().size());
    int nested = 0;
    for (TxnOp op : path.branch()) {
      share.add(ResponseSpace.RESPONSE_BYTES);
      if (op instanceof Operation.Range range) {
        responses.add(new Result.Range(state.range(range.query())));
      } else {
        // R6: the header of a nested response is empty.
        TxnPath inner = path.nested().get(nested++);
        responses.add(new Result.Txn(0, inner.succeeded(), run(inner, state, share)));
      }
    }
    return Collections.unmodifiableList(responses);
  }
}
