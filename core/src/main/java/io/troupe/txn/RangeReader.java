package io.troupe.txn;

import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;

/** Runs a range and counts its records in a share of a budget. */
interface RangeReader {
  /**
   * Reads a range whose revision is already checked.
   *
   * @throws MemoryBudget.Exceeded if the records do not fit
   */
  RangeResult range(RangeQuery query, MemoryBudget.Share share);
}
