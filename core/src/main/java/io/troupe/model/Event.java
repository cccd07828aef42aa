package io.troupe.model;

import org.jspecify.annotations.Nullable;

/**
 * One change of one key, as a watch reports it (W10, W11).
 *
 * @param type kind of the change
 * @param kv for a put the new record; for a delete only key and modRevision are set
 * @param prev the record at {@code kv.modRevision() - 1}; null if there was none or it is compacted
 */
public record Event(Type type, KeyValue kv, @Nullable KeyValue prev) {
  /** Kinds of change. */
  public enum Type {
    /** A put. */
    PUT,
    /** A deletion, by request or because a lease expired. */
    DELETE
  }

  /** Maximum encoded size of a record besides its key and value. */
  private static final int RECORD_OVERHEAD = 64;

  /** Upper bound of the encoded size, with or without the previous record. */
  public long maxBytes(boolean prevKv) {
    return maxBytes(kv) + (prevKv && prev != null ? maxBytes(prev) : 0);
  }

  private static long maxBytes(KeyValue record) {
    return RECORD_OVERHEAD + record.key().length() + (long) record.value().length();
  }

  /** Returns the deletion of {@code key} at {@code revision}. */
  public static Event delete(Bytes key, long revision, @Nullable KeyValue prev) {
    return new Event(Type.DELETE, new KeyValue(key, 0, revision, 0, Bytes.EMPTY, 0), prev);
  }
}
