package io.troupe.simulation.history;

import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;

/** What a client asks for. */
public sealed interface Request {
  /** Something that goes through the log. */
  record Write(Operation operation) implements Request {}

  /**
   * A read.
   *
   * @param serializable answered from what the asked member holds, however old
   */
  record Read(RangeQuery query, boolean serializable) implements Request {}

  /** A renewal of a lease. */
  record KeepAlive(long lease) implements Request {}
}
