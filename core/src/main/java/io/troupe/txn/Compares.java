package io.troupe.txn;

import io.troupe.model.Compare;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.KvRead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates conditions in a state.
 *
 * @source X6, X7
 */
final class Compares {
  private Compares() {}

  static boolean allHold(List<Compare> compares, KvRead state) {
    for (int i = 0; i < compares.size(); i++) {
      if (!holds(compares.get(i), state)) {
        return false;
      }
    }
    return true;
  }

  private static boolean holds(Compare compare, KvRead state) {
    if (compare.range().isSingle()) {
      return holdsFor(compare, state.get(compare.range().key()));
    }
    RangeVerdict verdict = new RangeVerdict(compare);
    state.scan(compare.range(), needsWhole(compare.target()), verdict::add);
    return verdict.any ? verdict.all : holdsFor(compare, null);
  }

  private static boolean needsWhole(Compare.Target target) {
    return target == Compare.Target.VALUE || target == Compare.Target.LEASE;
  }

  private static final class RangeVerdict {
    private final Compare compare;
    private boolean any;
    private boolean all = true;

    RangeVerdict(Compare compare) {
      this.compare = compare;
    }

    boolean add(KeyValue kv) {
      any = true;
      all = holdsFor(compare, kv);
      return all;
    }
  }

  /** X6: a missing key compares as 0, but no condition on its value holds. */
  private static boolean holdsFor(Compare compare, @Nullable KeyValue kv) {
    if (kv == null && compare.target() == Compare.Target.VALUE) {
      return false;
    }
    int order = order(compare, kv);
    return switch (compare.result()) {
      case EQUAL -> order == 0;
      case GREATER -> order > 0;
      case LESS -> order < 0;
      case NOT_EQUAL -> order != 0;
      case UNKNOWN -> true;
    };
  }

  /** Compares the stored with the given value. */
  private static int order(Compare compare, @Nullable KeyValue kv) {
    return switch (compare.target()) {
      case VERSION -> Long.compare(kv == null ? 0 : kv.version(), compare.number());
      case CREATE -> Long.compare(kv == null ? 0 : kv.createRevision(), compare.number());
      case MOD -> Long.compare(kv == null ? 0 : kv.modRevision(), compare.number());
      case LEASE -> Long.compare(kv == null ? 0 : kv.lease(), compare.number());
      case VALUE -> kv == null ? 0 : kv.value().compareTo(compare.value());
      case UNKNOWN -> 0;
    };
  }
}
