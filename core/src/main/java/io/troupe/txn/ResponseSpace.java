package io.troupe.txn;

import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.Result;
import org.jspecify.annotations.Nullable;

/**
 * The memory for the records in the response of one applied request. Only the member whose client
 * waits has any, and only that member reads the records for the response; the effect of the request
 * on the state is the same on all members. If the response exceeds the memory, no more records are
 * gathered, and the client learns that its request was applied. For the applying thread.
 */
public final class ResponseSpace {
  /** Approximate overhead of one response without records. */
  static final int RESPONSE_BYTES = 200;

  /**
   * Keys that the ranges of one request may walk over, so that one request does not block the
   * applying thread for long.
   */
  private static final long MAX_WALKED = 4_000_000;

  private final MemoryBudget.@Nullable Share share;
  private boolean exceeded;
  private long walked;

  private ResponseSpace(MemoryBudget.@Nullable Share share) {
    this.share = share;
  }

  /** Used if no client of this member waits for the response. */
  public static ResponseSpace none() {
    return new ResponseSpace(null);
  }

  /**
   * Used for a response that counts in {@code share}.
   *
   * @param share closed by its owner when the response is sent or the client has disconnected
   */
  public static ResponseSpace of(MemoryBudget.Share share) {
    return new ResponseSpace(share);
  }

  /** Used for a response that is not limited. */
  public static ResponseSpace unlimited() {
    return new ResponseSpace(MemoryBudget.UNLIMITED.share());
  }

  /** True if records for the response are still gathered. */
  boolean isWanted() {
    return share != null && !exceeded && !share.isClosed();
  }

  /** Counts a record; false if it exceeds the memory, then no more records must be gathered. */
  boolean add(KeyValue kv) {
    return isWanted() && counted(() -> share().add(kv));
  }

  /** Counts a response without records; false if it exceeds the memory. */
  boolean addResponse() {
    return isWanted() && counted(() -> share().add(RESPONSE_BYTES));
  }

  /** Runs a range; returns null if its response exceeds the memory. */
  Result.@Nullable Range range(RangeQuery query, RangeReader reader) {
    if (!addResponse()) {
      return null;
    }
    try {
      Result.Range found = new Result.Range(reader.range(query, share()));
      walked += found.range().count();
      exceeded = walked > MAX_WALKED;
      return found;
    } catch (MemoryBudget.Exceeded full) {
      exceeded = true;
      return null;
    }
  }

  /** Returns the result that the client of a request gets. */
  public Result check(Result result) {
    return exceeded && !(result instanceof Result.Refused)
        ? new Result.ResponseTooLarge(result)
        : result;
  }

  private MemoryBudget.Share share() {
    if (share == null) {
      throw new IllegalStateException("no client waits for this response");
    }
    return share;
  }

  private boolean counted(Runnable add) {
    try {
      add.run();
      return true;
    } catch (MemoryBudget.Exceeded full) {
      exceeded = true;
      return false;
    }
  }
}
