package io.troupe.mvcc;

import io.troupe.model.KeyValue;
import io.troupe.model.RangeQuery.SortTarget;
import java.util.Comparator;

/**
 * The orders that a range can request (G8, G9).
 *
 * @source section 2.3
 */
final class RecordOrder {
  private RecordOrder() {}

  /** Smallest first; records with the same target value are equal. */
  static Comparator<KeyValue> ascending(SortTarget target) {
    return switch (target) {
      case KEY -> Comparator.comparing(KeyValue::key);
      case VERSION -> Comparator.comparingLong(KeyValue::version);
      case CREATE -> Comparator.comparingLong(KeyValue::createRevision);
      case MOD -> Comparator.comparingLong(KeyValue::modRevision);
      case VALUE -> Comparator.comparing(KeyValue::value);
    };
  }

  /** G6: true if records without values suffice; sorting by value needs them. */
  static boolean needsKeysOnly(boolean keysOnly, SortTarget target) {
    return keysOnly && target != SortTarget.VALUE;
  }
}
