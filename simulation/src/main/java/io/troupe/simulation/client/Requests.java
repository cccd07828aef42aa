package io.troupe.simulation.client;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.simulation.history.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws random requests for a few keys. All values are unique. Clients of real processes use it as
 * well.
 */
public final class Requests {
  /** So few that clients conflict all the time. */
  static final int KEYS = 10;

  private static final List<Compare.Relation> RELATIONS =
      List.of(
          Compare.Relation.EQUAL,
          Compare.Relation.GREATER,
          Compare.Relation.LESS,
          Compare.Relation.NOT_EQUAL);

  private final SplittableRandom random;
  private final String name;
  private int values;

  /** Creates a source of requests. {@code name} makes their values unique. */
  public Requests(SplittableRandom random, String name) {
    this.random = random;
    this.name = name;
  }

  /**
   * One digit, so that keys sort like their numbers; the character after the last one is a colon.
   */
  public static Bytes key(int number) {
    return Bytes.utf8("k" + (char) ('0' + number));
  }

  Bytes anyKey() {
    return key(random.nextInt(KEYS));
  }

  Bytes nextValue() {
    return Bytes.utf8(name + "-" + ++values);
  }

  KeyRange anyRange() {
    int dice = random.nextInt(4);
    if (dice == 0) {
      return KeyRange.all();
    }
    if (dice == 1) {
      int from = random.nextInt(KEYS);
      return new KeyRange(key(from), key(from + 1 + random.nextInt(KEYS - from)));
    }
    return KeyRange.single(anyKey());
  }

  /** A put of any key; {@code lease} 0 is none. */
  public Operation.Put put(long lease) {
    return new Operation.Put(anyKey(), nextValue(), lease, random.nextInt(4) == 0, false, false);
  }

  /**
   * A request of the mix.
   *
   * @param seen newest revision that the client has seen
   * @param lastMod modification revision of some key as the client last saw it, 0 for none
   */
  public Request next(long seen, Bytes lastKey, long lastMod) {
    int dice = random.nextInt(100);
    if (dice < 25) {
      return new Request.Write(put(0));
    } else if (dice < 60) {
      return new Request.Read(query(seen), dice >= 45);
    } else if (dice < 70) {
      return new Request.Write(
          new Operation.DeleteRange(
              random.nextInt(4) == 0 ? anyRange() : KeyRange.single(anyKey()),
              random.nextBoolean()));
    } else if (dice < 88) {
      return new Request.Write(compareAndPut(lastKey, lastMod));
    }
    return new Request.Write(large());
  }

  private RangeQuery query(long seen) {
    KeyRange range = anyRange();
    long revision = random.nextInt(6) == 0 ? Math.max(1, seen + 3 - random.nextInt(80)) : 0;
    RangeQuery all = RangeQuery.of(range, revision);
    return random.nextInt(5) > 0
        ? all
        : new RangeQuery(
            range,
            1 + random.nextInt(3),
            revision,
            all.order(),
            all.target(),
            false,
            false,
            0,
            0,
            0,
            0);
  }

  private Operation.Txn compareAndPut(Bytes lastKey, long lastMod) {
    Bytes key = random.nextInt(3) == 0 ? anyKey() : lastKey;
    Compare compare =
        new Compare(
            KeyRange.single(key),
            random.nextInt(4) == 0 ? Compare.Target.CREATE : Compare.Target.MOD,
            RELATIONS.get(random.nextInt(RELATIONS.size())),
            lastMod,
            Bytes.EMPTY);
    return new Operation.Txn(
        List.of(compare),
        List.of(new Operation.Put(key, nextValue(), 0, true, false, false)),
        List.of(new Operation.Range(RangeQuery.of(KeyRange.single(key), 0))));
  }

  /** Writes several keys in one revision and reads all of them. */
  private Operation.Txn large() {
    List<Operation.TxnOp> ops = new ArrayList<>();
    int first = random.nextInt(KEYS);
    int count = 1 + random.nextInt(5);
    for (int i = 0; i < count; i++) {
      Bytes key = key((first + i) % KEYS);
      if (random.nextInt(3) == 0) {
        ops.add(new Operation.DeleteRange(KeyRange.single(key), true));
      } else {
        ops.add(new Operation.Put(key, nextValue(), 0, random.nextBoolean(), false, false));
      }
    }
    ops.add(new Operation.Range(RangeQuery.of(KeyRange.all(), 0)));
    return new Operation.Txn(List.of(), ops, List.of());
  }
}
