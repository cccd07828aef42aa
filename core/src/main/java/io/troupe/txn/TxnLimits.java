package io.troupe.txn;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.Refusal;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks the form of a transaction: size, keys, and keys that would be written twice. Pure; needs
 * no state.
 *
 * @source X2-X5
 */
public final class TxnLimits {
  private TxnLimits() {}

  /**
   * Checks a transaction as a client sent it.
   *
   * @param maxOps maximum number of compares, or of operations of a branch; the operations of a
   *     level reduce the limit of its nested transactions
   * @return the reason for a refusal, or null
   */
  public static @Nullable Refusal check(Operation.Txn txn, int maxOps) {
    Refusal refusal = shape(txn, maxOps);
    if (refusal != null) {
      return refusal;
    }
    return written(txn.success()) == null || written(txn.failure()) == null
        ? Refusal.DUPLICATE_KEY
        : null;
  }

  /**
   * True if no branch writes, at any depth: such a transaction is served like a read and never
   * proposed. X11 requires that of ranges at top level; for nested ones the difference is not
   * visible to clients.
   */
  public static boolean isReadOnly(Operation.Txn txn) {
    return onlyReads(txn.success()) && onlyReads(txn.failure());
  }

  private static boolean onlyReads(List<TxnOp> ops) {
    for (int i = 0; i < ops.size(); i++) {
      TxnOp op = ops.get(i);
      boolean reads =
          op instanceof Operation.Range
              || (op instanceof Operation.Txn nested && isReadOnly(nested));
      if (!reads) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable Refusal shape(Operation.Txn txn, int maxOps) {
    int used =
        Math.max(txn.compares().size(), Math.max(txn.success().size(), txn.failure().size()));
    if (used > maxOps) {
      return Refusal.TOO_MANY_OPERATIONS;
    }
    for (Compare compare : txn.compares()) {
      if (compare.range().key().isEmpty()) {
        return Refusal.KEY_NOT_PROVIDED;
      }
    }
    Refusal refusal = branch(txn.success(), maxOps - used);
    return refusal != null ? refusal : branch(txn.failure(), maxOps - used);
  }

  private static @Nullable Refusal branch(List<TxnOp> ops, int allowance) {
    for (TxnOp op : ops) {
      Refusal refusal =
          op instanceof Operation.Txn nested ? shape(nested, allowance) : RequestChecks.leaf(op);
      if (refusal != null) {
        return refusal;
      }
    }
    return null;
  }

  /** The keys that a branch may write. */
  private static final class Written {
    final Set<Bytes> puts = new HashSet<>();
    final Spans deletes = new Spans();
  }

  /** Returns the keys that the branch may write, or null if a key would be written twice. */
  private static @Nullable Written written(List<TxnOp> ops) {
    Written all = new Written();
    for (TxnOp op : ops) {
      if (op instanceof Operation.DeleteRange delete) {
        all.deletes.add(delete.range().key(), literalEnd(delete.range()));
      }
    }
    for (TxnOp op : ops) {
      if (op instanceof Operation.Txn nested && !addNested(nested, all)) {
        return null;
      }
    }
    for (TxnOp op : ops) {
      if (op instanceof Operation.Put put
          && (all.deletes.contains(put.key()) || !all.puts.add(put.key()))) {
        return null;
      }
    }
    return all;
  }

  /**
   * Only one of the two branches runs, so they are not checked against each other. They are checked
   * against the deletions of the level and those of earlier siblings, but not of later siblings:
   * X4's quirk.
   */
  private static boolean addNested(Operation.Txn nested, Written all) {
    Written success = written(nested.success());
    Written failure = written(nested.failure());
    if (success == null || failure == null) {
      return false;
    }
    Set<Bytes> puts = new HashSet<>(success.puts);
    puts.addAll(failure.puts);
    for (Bytes key : puts) {
      if (all.deletes.contains(key) || !all.puts.add(key)) {
        return false;
      }
    }
    all.deletes.addAll(success.deletes);
    all.deletes.addAll(failure.deletes);
    return true;
  }

  /** X5: an open end counts as the literal bytes of its bound. */
  private static Bytes literalEnd(KeyRange range) {
    return range.isSingle() ? range.key().successor() : range.rangeEnd();
  }
}
