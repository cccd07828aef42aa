package io.troupe.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What applying an {@link Operation} (or reading) came to. {@code revision} is what the answer's
 * header shows.
 */
public sealed interface Result {

  /** Answer of a read inside a transaction. */
  record Range(RangeResult range) implements Result {}

  /** Answer of a put; {@code prev} is null when not asked for or when there was none. */
  record Put(long revision, @Nullable KeyValue prev) implements Result {}

  /** Answer of a deletion; {@code prevs} in key order, empty when not asked for. */
  record DeleteRange(long revision, long deleted, List<KeyValue> prevs) implements Result {}

  /** Answer of a transaction, {@code responses} aligned with the branch that ran. */
  record Txn(long revision, boolean succeeded, List<Result> responses) implements Result {}

  /** Answer of a compaction. */
  record Compact(long revision) implements Result {}

  /** Answer of a grant. */
  record LeaseGrant(long revision, long id, long ttlSeconds) implements Result {}

  /** Answer of a revoke. */
  record LeaseRevoke(long revision) implements Result {}

  /** Answer of any alarm operation. */
  record Alarms(long revision, List<AlarmMember> alarms) implements Result {}

  /** Answer of an authentication. */
  record Authenticated(long revision, String token) implements Result {
    /** Never shows the token. */
    @Override
    public String toString() {
      return "Authenticated[" + revision + "]";
    }
  }

  /** Done, nothing to tell. */
  record Done(long revision) implements Result {}

  /** In a transaction: the operation was applied, and its response was not gathered. */
  enum NotGathered implements Result {
    /** The only one. */
    INSTANCE
  }

  /**
   * The request was applied, but its response does not fit into the memory for responses.
   *
   * @param applied the result without what did not fit
   */
  record ResponseTooLarge(Result applied) implements Result {}

  /** Refused; nothing was changed. */
  record Refused(Refusal reason) implements Result {}
}
