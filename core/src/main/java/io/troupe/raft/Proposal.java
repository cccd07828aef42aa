package io.troupe.raft;

import io.troupe.model.Bytes;
import io.troupe.model.RequestId;
import io.troupe.model.TraceContext;
import org.jspecify.annotations.Nullable;

/**
 * Something a client wants in the log.
 *
 * @param id for refusing it; the operation carries the id too, so that the answer finds its way
 *     after apply
 * @param operation the data of the entry, as it will be applied
 * @param isPriority whether it may still wait when others may not (Q6)
 * @param trace the call it comes from; null unless that is traced. Goes with it to the leader and
 *     means nothing here: it is in no log
 */
public record Proposal(
    RequestId id, Bytes operation, boolean isPriority, @Nullable TraceContext trace) {
  /** One like any other that nobody traces. */
  public Proposal(RequestId id, Bytes operation) {
    this(id, operation, false, null);
  }
}
