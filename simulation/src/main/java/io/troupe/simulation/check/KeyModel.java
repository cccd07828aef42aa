package io.troupe.simulation.check;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Keys and values at one revision, in the simplest form: the oracle of the linearizability check.
 * Immutable. Shares no code with io.troupe.mvcc and io.troupe.txn, so that it does not repeat their
 * errors.
 *
 * @source etcd surface 2.2, 2.3, 2.5-2.7, as far as the clients use it
 */
final class KeyModel {
  /** A store's first revision (R1). */
  static final KeyModel FIRST = new KeyModel(1, new TreeMap<>());

  private final long revision;
  private final SortedMap<Bytes, KeyValue> keys;

  private KeyModel(long revision, SortedMap<Bytes, KeyValue> keys) {
    this.revision = revision;
    this.keys = keys;
  }

  /**
   * Effect of an operation.
   *
   * @param next the model after it; the same one if no key changed
   * @param result the result for the client
   * @param events changes, in order
   */
  record Step(KeyModel next, Result result, List<Event> events) {
    boolean changes() {
      return !events.isEmpty();
    }
  }

  long revision() {
    return revision;
  }

  /** Applies an operation that changes keys or reads them. */
  Step apply(Operation operation) {
    Change change = new Change();
    Result result;
    if (operation instanceof Operation.Put put) {
      result = change.put(put);
    } else if (operation instanceof Operation.DeleteRange delete) {
      result = change.delete(delete);
    } else if (operation instanceof Operation.Txn txn) {
      result = change.txn(txn);
    } else if (operation instanceof Operation.LeaseRevoke revoke) {
      change.revoke(revoke.id());
      result = new Result.LeaseRevoke(change.header());
    } else {
      throw new IllegalArgumentException("no key is concerned by " + operation);
    }
    return change.step(result);
  }

  /** Effect of the end of a lease, expired or revoked. */
  Step end(long lease) {
    Change change = new Change();
    change.revoke(lease);
    return change.step(new Result.LeaseRevoke(change.header()));
  }

  /** Leases that keys are attached to, in key order. */
  List<Long> attachedLeases() {
    return keys.values().stream()
        .map(KeyValue::lease)
        .filter(lease -> lease != 0)
        .distinct()
        .toList();
  }

  /** Result of a read of this revision. The caller supplies the revision of the header. */
  RangeResult range(RangeQuery query, long headerRevision) {
    List<KeyValue> found = new ArrayList<>();
    for (KeyValue kv : keys.values()) {
      if (query.range().contains(kv.key())) {
        found.add(kv);
      }
    }
    int limit =
        query.limit() <= 0 ? found.size() : (int) Math.min(query.limit(), (long) found.size());
    return new RangeResult(
        headerRevision, List.copyOf(found.subList(0, limit)), limit < found.size(), found.size());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeyModel model && revision == model.revision && keys.equals(model.keys);
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(revision) + keys.hashCode();
  }

  @Override
  public String toString() {
    return revision + " " + keys.values();
  }

  /** Builds the effect of one operation. */
  private final class Change {
    private final SortedMap<Bytes, KeyValue> now = new TreeMap<>(keys);
    private final List<Event> events = new ArrayList<>();

    long header() {
      return events.isEmpty() ? revision : revision + 1;
    }

    Step step(Result result) {
      return events.isEmpty()
          ? new Step(KeyModel.this, result, List.of())
          : new Step(new KeyModel(revision + 1, now), result, List.copyOf(events));
    }

    Result.Put put(Operation.Put put) {
      KeyValue before = now.get(put.key());
      long create = before == null ? revision + 1 : before.createRevision();
      long version = before == null ? 1 : before.version() + 1;
      KeyValue kv =
          new KeyValue(put.key(), create, revision + 1, version, put.value(), put.lease());
      now.put(put.key(), kv);
      events.add(new Event(Event.Type.PUT, kv, version == 1 ? null : keys.get(put.key())));
      return new Result.Put(header(), put.prevKv() ? before : null);
    }

    Result.DeleteRange delete(Operation.DeleteRange delete) {
      List<KeyValue> gone = remove(delete.range());
      return new Result.DeleteRange(header(), gone.size(), delete.prevKv() ? gone : List.of());
    }

    private List<KeyValue> remove(KeyRange range) {
      List<KeyValue> gone = now.values().stream().filter(kv -> range.contains(kv.key())).toList();
      for (KeyValue kv : gone) {
        now.remove(kv.key());
        events.add(Event.delete(kv.key(), revision + 1, keys.get(kv.key())));
      }
      return gone;
    }

    void revoke(long lease) {
      List<Bytes> doomed = new ArrayList<>();
      for (KeyValue kv : now.values()) {
        if (kv.lease() == lease) {
          doomed.add(kv.key());
        }
      }
      doomed.forEach(key -> remove(KeyRange.single(key)));
    }

    Result.Txn txn(Operation.Txn txn) {
      boolean succeeded = txn.compares().stream().allMatch(this::holds);
      List<Result> responses = new ArrayList<>();
      for (Operation.TxnOp op : succeeded ? txn.success() : txn.failure()) {
        if (op instanceof Operation.Put put) {
          responses.add(put(put));
        } else if (op instanceof Operation.DeleteRange delete) {
          responses.add(delete(delete));
        } else if (op instanceof Operation.Range range) {
          KeyModel seen = new KeyModel(revision, now);
          responses.add(new Result.Range(seen.range(range.query(), header())));
        } else {
          throw new IllegalArgumentException("clients do not nest transactions");
        }
      }
      return new Result.Txn(header(), succeeded, List.copyOf(responses));
    }

    private boolean holds(Compare compare) {
      KeyValue kv = keys.get(compare.range().key());
      int order = order(compare, kv);
      return switch (compare.result()) {
        case EQUAL -> order == 0;
        case GREATER -> order > 0;
        case LESS -> order < 0;
        case NOT_EQUAL -> order != 0;
        case UNKNOWN -> throw new IllegalArgumentException("clients do not ask " + compare);
      };
    }

    private int order(Compare compare, @Nullable KeyValue kv) {
      return switch (compare.target()) {
        case VERSION -> Long.compare(kv == null ? 0 : kv.version(), compare.number());
        case CREATE -> Long.compare(kv == null ? 0 : kv.createRevision(), compare.number());
        case MOD -> Long.compare(kv == null ? 0 : kv.modRevision(), compare.number());
        case LEASE -> Long.compare(kv == null ? 0 : kv.lease(), compare.number());
        case VALUE, UNKNOWN -> throw new IllegalArgumentException("clients do not ask " + compare);
      };
    }
  }
}
