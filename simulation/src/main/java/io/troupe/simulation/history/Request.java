package io.troupe.simulation.history;

import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;

/** A request of a client. */
public sealed interface Request {
  /** A write through the log. */
  record Write(Operation operation) implements Request {}

  /**
   * A read.
   *
   * @param serializable served from the state of the called member, however old
   */
  record Read(RangeQuery query, boolean serializable) implements Request {}

  /** A renewal of a lease. */
  record KeepAlive(long lease) implements Request {}

  /** A query of the remaining time of a lease. */
  record TimeToLive(long lease) implements Request {}
}
