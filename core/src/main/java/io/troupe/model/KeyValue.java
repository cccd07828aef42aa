package io.troupe.model;

/**
 * One version of a key (R4).
 *
 * @param key user key, never empty
 * @param createRevision main revision of the first put since the last deletion
 * @param modRevision main revision of this put
 * @param version 1 at creation, incremented by each put
 * @param value may be empty
 * @param lease id of the attached lease, or 0
 */
public record KeyValue(
    Bytes key, long createRevision, long modRevision, long version, Bytes value, long lease) {

  /** Returns the same record with an empty value. */
  public KeyValue withoutValue() {
    return new KeyValue(key, createRevision, modRevision, version, Bytes.EMPTY, lease);
  }
}
