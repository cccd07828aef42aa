package io.troupe.raft;

import io.troupe.model.Bytes;
import io.troupe.model.RequestId;
import io.troupe.model.TraceContext;
import org.jspecify.annotations.Nullable;

/**
 * An operation that a client wants in the log.
 *
 * @param id used to refuse it; the operation contains the id too, so that the reply is sent after
 *     apply
 * @param operation the data of the entry, as it will be applied
 * @param isPriority true if it is still accepted when other proposals are refused (Q6)
 * @param trace the call that caused it; null unless that is traced. Forwarded to the leader but
 *     ignored by Raft: it is in no log
 */
public record Proposal(
    RequestId id, Bytes operation, boolean isPriority, @Nullable TraceContext trace) {
  /** A proposal without priority and without a trace. */
  public Proposal(RequestId id, Bytes operation) {
    this(id, operation, false, null);
  }
}
