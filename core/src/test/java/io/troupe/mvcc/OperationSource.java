package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.txn.TxnLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Random operations and queries on few keys, so that they interact. Equal seeds give equal
 * sequences.
 */
final class OperationSource {
  private static final List<Bytes> KEYS =
      List.of(
          Bytes.of(0),
          Bytes.of(0, 0),
          Bytes.of(0, 1),
          Bytes.of(0, 0xff),
          Bytes.utf8("a"),
          Bytes.of('a', 0),
          Bytes.of('a', 0, 0),
          Bytes.of('a', 0, 'b'),
          Bytes.of('a', 1),
          Bytes.utf8("aa"),
          Bytes.utf8("ab"),
          Bytes.utf8("b"),
          Bytes.of('b', 0xff),
          Bytes.of(0xff),
          Bytes.of(0xff, 0),
          Bytes.of(0xff, 0xff));
  private static final int LEASES = 4;

  private final SplittableRandom random;
  private final int keys;
  private final int compactions;

  OperationSource(SplittableRandom random) {
    this.random = random;
    // Few keys and rare compactions produce long histories of one key.
    this.keys = random.nextBoolean() ? KEYS.size() : 2 + random.nextInt(4);
    this.compactions = random.nextBoolean() ? 6 : 1;
  }

  /** The next operation; requests that a gateway would refuse are never created. */
  Operation next(long revision) {
    int kind = random.nextInt(100);
    if (kind < 45) {
      return put();
    }
    if (kind < 57) {
      return new Operation.DeleteRange(range(), random.nextBoolean());
    }
    if (kind < 80) {
      return txn(revision);
    }
    if (kind < 88) {
      return new Operation.LeaseGrant(lease(), 1 + random.nextInt(100));
    }
    if (kind < 92) {
      return new Operation.LeaseRevoke(lease());
    }
    return kind < 100 - compactions
        ? checkpoint()
        : new Operation.Compact(revision - random.nextInt(-1, 12));
  }

  private Operation checkpoint() {
    Operation.LeaseCheckpoint.Remaining first =
        new Operation.LeaseCheckpoint.Remaining(lease(), random.nextInt(50));
    return new Operation.LeaseCheckpoint(
        random.nextBoolean()
            ? List.of(first)
            : List.of(first, new Operation.LeaseCheckpoint.Remaining(lease(), random.nextInt(50))));
  }

  private long lease() {
    int lease = random.nextInt(LEASES);
    return lease == 0 ? -1 : lease;
  }

  private Bytes key() {
    return KEYS.get((int) ((random.nextInt(keys) * 7L) % KEYS.size()));
  }

  KeyRange range() {
    return switch (random.nextInt(6)) {
      case 0, 1 -> KeyRange.single(key());
      case 2 -> new KeyRange(key(), Bytes.of(0));
      default -> new KeyRange(key(), key());
    };
  }

  /** A range from or after any key up to or after any other one, from another source of numbers. */
  static KeyRange part(SplittableRandom numbers) {
    Bytes from = KEYS.get(numbers.nextInt(KEYS.size()));
    Bytes to = KEYS.get(numbers.nextInt(KEYS.size()));
    return switch (numbers.nextInt(5)) {
      case 0 -> KeyRange.all();
      case 1 -> new KeyRange(from.successor(), Bytes.of(0));
      case 2 -> new KeyRange(from, to.successor());
      case 3 -> KeyRange.single(from);
      default -> new KeyRange(from, to);
    };
  }

  private Operation.Put put() {
    boolean ignoreValue = random.nextInt(12) == 0;
    boolean ignoreLease = random.nextInt(12) == 0;
    long lease = ignoreLease || random.nextInt(3) > 0 ? 0 : lease();
    byte[] value = new byte[random.nextInt(4) * 3];
    for (int i = 0; i < value.length; i++) {
      value[i] = (byte) random.nextInt(256);
    }
    return new Operation.Put(
        key(),
        ignoreValue ? Bytes.EMPTY : Bytes.wrap(value),
        lease,
        random.nextBoolean(),
        ignoreValue,
        ignoreLease);
  }

  private Operation txn(long revision) {
    while (true) {
      Operation.Txn txn = txn(revision, 0);
      if (TxnLimits.check(txn, 16) == null) {
        return txn;
      }
    }
  }

  private Operation.Txn txn(long revision, int depth) {
    List<Compare> compares = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      compares.add(compare(revision));
    }
    return new Operation.Txn(compares, branch(revision, depth), branch(revision, depth));
  }

  private List<TxnOp> branch(long revision, int depth) {
    List<TxnOp> ops = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      ops.add(
          switch (random.nextInt(depth < 2 ? 5 : 4)) {
            case 0, 1 -> put();
            case 2 -> new Operation.DeleteRange(range(), random.nextBoolean());
            case 3 -> new Operation.Range(query(revision));
            default -> txn(revision, depth + 1);
          });
    }
    return ops;
  }

  private Compare compare(long revision) {
    Compare.Target target = pick(Compare.Target.values());
    long number =
        switch (target) {
          case VERSION -> random.nextInt(4);
          case LEASE -> random.nextInt(3);
          default -> random.nextInt(3) == 0 ? 0 : Math.max(0, revision - random.nextInt(30));
        };
    Bytes value = random.nextBoolean() ? Bytes.EMPTY : Bytes.of(random.nextInt(256));
    return new Compare(range(), target, pick(Compare.Relation.values()), number, value);
  }

  RangeQuery query(long revision) {
    boolean plain = random.nextInt(3) == 0;
    boolean filtered = random.nextInt(5) == 0;
    return new RangeQuery(
        range(),
        random.nextInt(3) == 0 ? random.nextInt(-1, 8) : 0,
        random.nextInt(3) == 0 ? revision - random.nextInt(-1, 12) : random.nextInt(-2, 1),
        plain ? RangeQuery.SortOrder.NONE : pick(RangeQuery.SortOrder.values()),
        plain ? RangeQuery.SortTarget.KEY : pick(RangeQuery.SortTarget.values()),
        random.nextInt(4) == 0,
        random.nextInt(6) == 0,
        filtered ? bound(revision) : 0,
        filtered ? bound(revision) : 0,
        filtered ? bound(revision) : 0,
        filtered ? bound(revision) : 0);
  }

  private long bound(long revision) {
    return random.nextBoolean() ? 0 : Math.max(1, revision - random.nextInt(20));
  }

  private <T> T pick(T[] all) {
    return all[random.nextInt(all.length)];
  }
}
