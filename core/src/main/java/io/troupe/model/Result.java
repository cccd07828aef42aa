package io.troupe.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of applying an {@link Operation} or of a read. {@code revision} is the one in the
 * header of the response.
 */
public sealed interface Result {

  /** Result of a read inside a transaction. */
  record Range(RangeResult range) implements Result {}

  /** Result of a put; {@code prev} is null if it was not requested or if there was none. */
  record Put(long revision, @Nullable KeyValue prev) implements Result {}

  /** Result of a deletion; {@code prevs} in key order, empty if not requested. */
  record DeleteRange(long revision, long deleted, List<KeyValue> prevs) implements Result {}

  /** Result of a transaction; {@code responses} match the operations of the branch that ran. */
  record Txn(long revision, boolean succeeded, List<Result> responses) implements Result {}

  /** Result of a compaction. */
  record Compact(long revision) implements Result {}

  /** Result of a grant. */
  record LeaseGrant(long revision, long id, long ttlSeconds) implements Result {}

  /** Result of a revoke. */
  record LeaseRevoke(long revision) implements Result {}

  /** Result of any alarm operation. */
  record Alarms(long revision, List<AlarmMember> alarms) implements Result {}

  /** Result of an authentication. */
  record Authenticated(long revision, String token) implements Result {
    /** Omits the token. */
    @Override
    public String toString() {
      return "Authenticated[" + revision + "]";
    }
  }

  /** Success without further data. */
  record Done(long revision) implements Result {}

  /** In a transaction: the operation was applied, but its response was not gathered. */
  enum NotGathered implements Result {
    /** The only instance. */
    INSTANCE
  }

  /**
   * The request was applied, but its response exceeds the memory for responses.
   *
   * @param applied the result without the part that did not fit
   */
  record ResponseTooLarge(Result applied) implements Result {}

  /** Refused; nothing was changed. */
  record Refused(Refusal reason) implements Result {}
}
