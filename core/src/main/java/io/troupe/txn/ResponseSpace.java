package io.troupe.txn;

import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.Result;
import org.jspecify.annotations.Nullable;

/**
 * The memory for the records in the response of one applied request. Only the member whose client
 * waits has any, and only that member reads what the request asks for; what the request does to the
 * state is the same everywhere. Once the response does not fit, nothing more is gathered for it and
 * the client learns that its request was applied. For the applying thread.
 */
public final class ResponseSpace {
  /** What the objects of one response, without records, weigh about. */
  static final int RESPONSE_BYTES = 200;

  /**
   * Keys that the ranges of one request may walk over, so that one request does not stop the
   * applying thread for long.
   */
  private static final long MAX_WALKED = 4_000_000;

  private final MemoryBudget.@Nullable Share share;
  private boolean exceeded;
  private long walked;

  private ResponseSpace(MemoryBudget.@Nullable Share share) {
    this.share = share;
  }

  /** For a member on which no client waits for the response. */
  public static ResponseSpace none() {
    return new ResponseSpace(null);
  }

  /**
   * For a response that counts in {@code share}.
   *
   * @param share closed by its owner when the response is sent, or the client has left
   */
  public static ResponseSpace of(MemoryBudget.Share share) {
    return new ResponseSpace(share);
  }

  /** For a response that counts nowhere. */
  public static ResponseSpace unlimited() {
    return new ResponseSpace(MemoryBudget.UNLIMITED.share());
  }

  /** Whether records for the response are still gathered. */
  boolean isWanted() {
    return share != null && !exceeded && !share.isClosed();
  }

  /** Counts a record; false when it does not fit, and nothing is to be gathered any more. */
  boolean add(KeyValue kv) {
    return isWanted() && counted(() -> share().add(kv));
  }

  /** Counts a response without records; false when it does not fit. */
  boolean addResponse() {
    return isWanted() && counted(() -> share().add(RESPONSE_BYTES));
  }

  /** Runs a range, or gives null when its response does not fit. */
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

  /** The result of a request as its client gets it. */
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
