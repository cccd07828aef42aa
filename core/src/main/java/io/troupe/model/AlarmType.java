package io.troupe.model;

/** Kinds of alarm. Wire numbers are the ordinals. */
public enum AlarmType {
  /** No alarm; in a request: any. */
  NONE,
  /** The quota is used up. */
  NOSPACE,
  /** Replicas differ. */
  CORRUPT
}
