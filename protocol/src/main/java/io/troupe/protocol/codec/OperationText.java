package io.troupe.protocol.codec;

import com.google.protobuf.TextFormat;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import java.util.Locale;

/** Formats operations for log lines: keys, never values. */
public final class OperationText {
  /** Longest key that is shown completely, in bytes. */
  private static final int LONGEST_KEY = 256;

  private OperationText() {}

  /** Name of the kind of operation in lower case: {@code put}, {@code lease_grant}. */
  public static String name(Operation operation) {
    return operation
        .getClass()
        .getSimpleName()
        .replaceAll("([a-z])([A-Z])", "$1_$2")
        .toLowerCase(Locale.ROOT);
  }

  /** One line: the kind, its object, and sizes. */
  public static String of(Operation operation) {
    String name = name(operation);
    if (operation instanceof Operation.Put put) {
      return name + " key:" + key(put.key()) + " value_size:" + put.value().length();
    }
    if (operation instanceof Operation.DeleteRange delete) {
      return name + " " + range(delete.range());
    }
    if (operation instanceof Operation.Txn txn) {
      return name
          + " compare:"
          + txn.compares().size()
          + " success:"
          + txn.success().size()
          + " failure:"
          + txn.failure().size();
    }
    if (operation instanceof Operation.Compact compact) {
      return name + " revision:" + compact.revision();
    }
    if (operation instanceof Operation.LeaseGrant grant) {
      return name + " ID:" + Long.toHexString(grant.id()) + " TTL:" + grant.ttlSeconds();
    }
    if (operation instanceof Operation.LeaseRevoke revoke) {
      return name + " ID:" + Long.toHexString(revoke.id());
    }
    return name;
  }

  private static String range(KeyRange range) {
    String text = "key:" + key(range.key());
    return range.isSingle() ? text : text + " range_end:" + key(range.rangeEnd());
  }

  private static String key(Bytes key) {
    int shown = Math.min(key.length(), LONGEST_KEY);
    String text = TextFormat.escapeBytes(key.slice(0, shown).toArray());
    return "\"" + text + "\"" + (shown < key.length() ? "..." : "");
  }
}
