package io.troupe.txn;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.mvcc.KvRead;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many keys the compares of a writing transaction may read. The compares run on every
 * member when the transaction is applied, and no other write is applied meanwhile. So the member
 * that receives the transaction evaluates them first, on a read thread.
 *
 * @param most maximum number of keys, for all compares together; each KiB of a compared value
 *     counts as one
 */
public record CompareLimit(long most) {
  /** About one second of work for each member. */
  public static final CompareLimit DEFAULT = new CompareLimit(1_000_000);

  private static final int VALUE_BYTES_OF_A_KEY = 1024;

  private static final class TooFar extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TooFar() {
      super("compares exceed the limit", null, false, false);
    }
  }

  /** True if any compare of a transaction, at any depth, covers a range. */
  public static boolean hasRanges(Operation.Txn txn) {
    for (Compare compare : txn.compares()) {
      if (!compare.range().isSingle()) {
        return true;
      }
    }
    return hasRanges(txn.success()) || hasRanges(txn.failure());
  }

  private static boolean hasRanges(List<Operation.TxnOp> branch) {
    for (Operation.TxnOp op : branch) {
      if (op instanceof Operation.Txn inner && hasRanges(inner)) {
        return true;
      }
    }
    return false;
  }

  /** True if the compares of a transaction stay within the limit in that state. */
  boolean holds(Operation.Txn txn, KvRead state) {
    try {
      TxnPath.decide(txn, new Counted(state));
      return true;
    } catch (TooFar walksTooFar) {
      return false;
    }
  }

  private final class Counted implements KvRead {
    private final KvRead state;
    private long walked;

    Counted(KvRead state) {
      this.state = state;
    }

    @Override
    public long revision() {
      return state.revision();
    }

    @Override
    public long compactedRevision() {
      return state.compactedRevision();
    }

    @Override
    public @Nullable KeyValue get(Bytes key) {
      return state.get(key);
    }

    @Override
    public void scan(KeyRange range, boolean whole, Predicate<KeyValue> more) {
      state.scan(
          range,
          whole,
          kv -> {
            walked += 1 + kv.value().length() / VALUE_BYTES_OF_A_KEY;
            if (walked > most) {
              throw new TooFar();
            }
            return more.test(kv);
          });
    }
  }
}
