package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeQuery.SortOrder;
import io.troupe.model.RangeQuery.SortTarget;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The rules of chapter 2 in the simplest form: a list of all changes, searched from end to end.
 * Slow on purpose; the reference of {@link StoreModelDriver}.
 */
final class NaiveState {
  /** One change; {@code kv} is null for a deletion. */
  record Version(Bytes key, long main, int sub, @Nullable KeyValue kv) {}

  final List<Version> versions = new ArrayList<>();
  final List<Event> events = new ArrayList<>();
  final SortedMap<Long, Long> leases = new TreeMap<>();
  long revision = 1;
  long compacted = -1;
  private int subs;

  // ---- applying ----

  Result apply(Operation operation) {
    subs = 0;
    Result result = run(operation);
    if (subs > 0) {
      revision++;
    }
    return result;
  }

  private Result run(Operation operation) {
    if (operation instanceof Operation.Put put) {
      if (put.lease() != 0 && !leases.containsKey(put.lease())) {
        return new Result.Refused(Refusal.LEASE_NOT_FOUND);
      }
      if ((put.ignoreValue() || put.ignoreLease()) && visible(put.key(), revision) == null) {
        return new Result.Refused(Refusal.KEY_NOT_FOUND);
      }
      return put(put);
    }
    if (operation instanceof Operation.DeleteRange delete) {
      return delete(delete);
    }
    if (operation instanceof Operation.Txn txn) {
      return txn(txn);
    }
    if (operation instanceof Operation.Compact compact) {
      if (compact.revision() <= compacted) {
        return new Result.Refused(Refusal.COMPACTED);
      }
      if (compact.revision() > revision) {
        return new Result.Refused(Refusal.FUTURE_REVISION);
      }
      compacted = compact.revision();
      return new Result.Compact(revision);
    }
    return runLease(operation);
  }

  private Result runLease(Operation operation) {
    if (operation instanceof Operation.LeaseGrant grant) {
      if (leases.containsKey(grant.id())) {
        return new Result.Refused(Refusal.LEASE_EXISTS);
      }
      leases.put(grant.id(), grant.ttlSeconds());
      return new Result.LeaseGrant(revision, grant.id(), grant.ttlSeconds());
    }
    if (operation instanceof Operation.LeaseRevoke revoke) {
      if (leases.remove(revoke.id()) == null) {
        return new Result.Refused(Refusal.LEASE_NOT_FOUND);
      }
      for (Bytes key : attached(revoke.id())) {
        change(key, null);
      }
      return new Result.LeaseRevoke(header());
    }
    return new Result.Done(revision);
  }

  List<Bytes> attached(long lease) {
    return live(KeyRange.all(), Long.MAX_VALUE).values().stream()
        .filter(kv -> kv.lease() == lease)
        .map(KeyValue::key)
        .toList();
  }

  private long header() {
    return subs > 0 ? revision + 1 : revision;
  }

  private Result.Put put(Operation.Put put) {
    KeyValue old = visible(put.key(), Long.MAX_VALUE);
    long main = revision + 1;
    change(
        put.key(),
        new KeyValue(
            put.key(),
            old == null ? main : old.createRevision(),
            main,
            old == null ? 1 : old.version() + 1,
            put.ignoreValue() && old != null ? old.value() : put.value(),
            put.ignoreLease() && old != null ? old.lease() : put.lease()));
    return new Result.Put(header(), put.prevKv() ? old : null);
  }

  private Result.DeleteRange delete(Operation.DeleteRange delete) {
    List<KeyValue> old = List.copyOf(live(delete.range(), Long.MAX_VALUE).values());
    old.forEach(kv -> change(kv.key(), null));
    return new Result.DeleteRange(header(), old.size(), delete.prevKv() ? old : List.of());
  }

  private void change(Bytes key, @Nullable KeyValue kv) {
    long main = revision + 1;
    KeyValue prev = visible(key, revision);
    versions.add(new Version(key, main, subs++, kv));
    if (kv == null) {
      events.add(Event.delete(key, main, prev));
    } else {
      events.add(new Event(Event.Type.PUT, kv, kv.createRevision() == main ? null : prev));
    }
  }

  private Result txn(Operation.Txn txn) {
    Refusal refusal = check(txn);
    return refusal != null ? new Result.Refused(refusal) : runTxn(txn, revision, false);
  }

  private @Nullable Refusal check(Operation.Txn txn) {
    for (TxnOp op : chosen(txn, revision)) {
      if (op instanceof Operation.Put put) {
        if (put.lease() != 0 && !leases.containsKey(put.lease())) {
          return Refusal.LEASE_NOT_FOUND;
        }
        if ((put.ignoreValue() || put.ignoreLease()) && visible(put.key(), revision) == null) {
          return Refusal.KEY_NOT_FOUND;
        }
      } else if (op instanceof Operation.Range range && range.query().revision() != 0) {
        if (range.query().revision() > revision) {
          return Refusal.FUTURE_REVISION;
        }
        if (range.query().revision() < compacted) {
          return Refusal.COMPACTED;
        }
      } else if (op instanceof Operation.Txn inner) {
        Refusal refusal = check(inner);
        if (refusal != null) {
          return refusal;
        }
      }
    }
    return null;
  }

  private List<TxnOp> chosen(Operation.Txn txn, long before) {
    return txn.compares().stream().allMatch(c -> holds(c, before)) ? txn.success() : txn.failure();
  }

  private Result.Txn runTxn(Operation.Txn txn, long before, boolean inner) {
    boolean succeeded = txn.compares().stream().allMatch(c -> holds(c, before));
    List<Result> responses = new ArrayList<>();
    for (TxnOp op : chosen(txn, before)) {
      if (op instanceof Operation.Put put) {
        responses.add(put(put));
      } else if (op instanceof Operation.DeleteRange delete) {
        responses.add(delete(delete));
      } else if (op instanceof Operation.Range range) {
        long at = range.query().revision() <= 0 ? Long.MAX_VALUE : range.query().revision();
        responses.add(new Result.Range(rangeAt(range.query(), at, header())));
      } else if (op instanceof Operation.Txn nested) {
        responses.add(runTxn(nested, before, true));
      }
    }
    return new Result.Txn(inner ? 0 : header(), succeeded, responses);
  }

  private boolean holds(Compare compare, long at) {
    List<KeyValue> found = List.copyOf(live(compare.range(), at).values());
    if (found.isEmpty()) {
      return compare.target() != Compare.Target.VALUE && relation(compare, 0, Bytes.EMPTY, true);
    }
    return found.stream()
        .allMatch(
            kv -> {
              long number =
                  switch (compare.target()) {
                    case VERSION -> kv.version();
                    case CREATE -> kv.createRevision();
                    case MOD -> kv.modRevision();
                    case LEASE -> kv.lease();
                    case VALUE, UNKNOWN -> 0;
                  };
              return relation(compare, number, kv.value(), false);
            });
  }

  private static boolean relation(Compare compare, long number, Bytes value, boolean missing) {
    int order = Long.compare(number, compare.number());
    if (compare.target() == Compare.Target.UNKNOWN) {
      order = 0;
    } else if (compare.target() == Compare.Target.VALUE && !missing) {
      order = value.compareTo(compare.value());
    }
    return switch (compare.result()) {
      case EQUAL -> order == 0;
      case NOT_EQUAL -> order != 0;
      case GREATER -> order > 0;
      case LESS -> order < 0;
      case UNKNOWN -> true;
    };
  }

  // ---- reading ----

  @Nullable KeyValue visible(Bytes key, long at) {
    KeyValue found = null;
    for (Version version : versions) {
      if (version.main() <= at && version.key().equals(key)) {
        found = version.kv();
      }
    }
    return found;
  }

  SortedMap<Bytes, KeyValue> live(KeyRange range, long at) {
    SortedMap<Bytes, KeyValue> live = new TreeMap<>();
    for (Version version : versions) {
      KeyValue kv = version.kv();
      if (version.main() > at || range.isEmpty() || !range.contains(version.key())) {
        continue;
      }
      if (kv == null) {
        live.remove(version.key());
      } else {
        live.put(version.key(), kv);
      }
    }
    return live;
  }

  Result range(RangeQuery query) {
    long at = query.revision() <= 0 ? revision : query.revision();
    if (at > revision) {
      return new Result.Refused(Refusal.FUTURE_REVISION);
    }
    return at < compacted
        ? new Result.Refused(Refusal.COMPACTED)
        : new Result.Range(rangeAt(query, at, revision));
  }

  private RangeResult rangeAt(RangeQuery query, long at, long header) {
    List<KeyValue> all = List.copyOf(live(query.range(), at).values());
    if (query.countOnly()) {
      return new RangeResult(header, List.of(), false, all.size());
    }
    List<KeyValue> kvs = new ArrayList<>(all);
    kvs.removeIf(kv -> !passes(query, kv));
    if (query.keysOnly() && query.target() != SortTarget.VALUE) {
      kvs.replaceAll(NaiveState::bare);
    }
    boolean cutFirst = query.order() == SortOrder.NONE && !query.hasRevisionFilter();
    if (cutFirst && query.limit() > 0 && kvs.size() > query.limit() + 1) {
      kvs = new ArrayList<>(kvs.subList(0, (int) query.limit() + 1));
    }
    Comparator<KeyValue> by =
        switch (query.target()) {
          case KEY -> Comparator.comparing(KeyValue::key);
          case VERSION -> Comparator.comparing(KeyValue::version);
          case CREATE -> Comparator.comparing(KeyValue::createRevision);
          case MOD -> Comparator.comparing(KeyValue::modRevision);
          case VALUE -> Comparator.comparing(KeyValue::value);
        };
    kvs.sort(query.order() == SortOrder.DESCEND ? by.reversed() : by);
    boolean more = query.limit() > 0 && kvs.size() > query.limit();
    if (more) {
      kvs = new ArrayList<>(kvs.subList(0, (int) query.limit()));
    }
    if (query.keysOnly()) {
      kvs.replaceAll(KeyValue::withoutValue);
    }
    return new RangeResult(header, kvs, more, all.size());
  }

  private static KeyValue bare(KeyValue kv) {
    return new KeyValue(
        kv.key(), kv.createRevision(), kv.modRevision(), kv.version(), Bytes.EMPTY, 0);
  }

  private static boolean passes(RangeQuery query, KeyValue kv) {
    return (query.minModRevision() == 0 || kv.modRevision() >= query.minModRevision())
        && (query.maxModRevision() == 0 || kv.modRevision() <= query.maxModRevision())
        && (query.minCreateRevision() == 0 || kv.createRevision() >= query.minCreateRevision())
        && (query.maxCreateRevision() == 0 || kv.createRevision() <= query.maxCreateRevision());
  }

  /** Events of a range from {@code from} to below {@code to}, as history returns them now (W11). */
  List<Event> history(KeyRange range, long from, long to, boolean withPrev) {
    List<Event> found = new ArrayList<>();
    for (Event event : events) {
      long main = event.kv().modRevision();
      if (main >= from && main < to && range.contains(event.kv().key())) {
        boolean prev = withPrev && main - 1 >= compacted;
        found.add(new Event(event.type(), event.kv(), prev ? event.prev() : null));
      }
    }
    return found;
  }
}
