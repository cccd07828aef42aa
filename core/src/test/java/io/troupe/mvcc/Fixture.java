package io.troupe.mvcc;

import io.troupe.machine.Applied;
import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeQuery.SortOrder;
import io.troupe.model.RangeQuery.SortTarget;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import java.util.List;

/** A state machine over a store in memory, committed after every operation. */
public final class Fixture {
  public final OrderedStore store;
  public StateMachine machine;

  public Fixture(OrderedStore store) {
    this.store = store;
    this.machine = new StateMachine(store, 1 << 20);
  }

  public Fixture() {
    this(new InMemoryOrderedStore());
  }

  public Applied apply(Operation operation) {
    Applied applied = machine.apply(machine.appliedIndex() + 1, 1, operation);
    machine.commit();
    return applied;
  }

  public Result result(Operation operation) {
    return apply(operation).result();
  }

  public static Bytes key(String text) {
    return Bytes.utf8(text);
  }

  public static KeyRange one(String text) {
    return KeyRange.single(key(text));
  }

  public static KeyRange span(String from, String to) {
    return new KeyRange(key(from), key(to));
  }

  public static Operation.Put put(String key, String value) {
    return put(key, value, 0);
  }

  public static Operation.Put put(String key, String value, long lease) {
    return new Operation.Put(key(key), key(value), lease, true, false, false);
  }

  public static Operation.DeleteRange delete(KeyRange range) {
    return new Operation.DeleteRange(range, true);
  }

  public static RangeQuery query(
      KeyRange range, long limit, SortOrder order, SortTarget target, boolean keysOnly) {
    return new RangeQuery(range, limit, 0, order, target, keysOnly, false, 0, 0, 0, 0);
  }

  public static RangeQuery plain(KeyRange range, long limit) {
    return query(range, limit, SortOrder.NONE, SortTarget.KEY, false);
  }

  public RangeResult read(RangeQuery query) {
    return ((Result.Range) machine.reader().range(query)).range();
  }

  public static List<String> keys(RangeResult result) {
    return result.kvs().stream().map(KeyValue::key).map(Bytes::utf8).toList();
  }

  /** Runs the removal until it is complete. */
  public void removeAll() {
    boolean done = false;
    while (!done) {
      done = machine.compactor().removeBatch(3).done();
    }
  }
}
