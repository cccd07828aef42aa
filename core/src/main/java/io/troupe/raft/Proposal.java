package io.troupe.raft;

import io.troupe.model.Bytes;
import io.troupe.model.RequestId;

/**
 * Something a client wants in the log.
 *
 * @param id for refusing it; the operation carries the id too, so that the answer finds its way
 *     after apply
 * @param operation the data of the entry, as it will be applied
 */
public record Proposal(RequestId id, Bytes operation) {}
