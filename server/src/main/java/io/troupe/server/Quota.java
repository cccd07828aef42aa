package io.troupe.server;

import io.troupe.model.AlarmType;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import io.troupe.txn.QuotaCost;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rejects operations that would exceed the quota of the state, and raises the alarm that stops
 * writes on every member (Q1). The alarm itself is checked where entries are applied (Q2).
 * Thread-safe.
 */
public final class Quota {
  private static final Logger LOG = LoggerFactory.getLogger(Quota.class);

  private final Member member;
  private final Proposer proposer;
  private final long quotaBytes;
  private final BooleanSupplier diskHasSpace;
  private final AtomicBoolean raising = new AtomicBoolean();

  /**
   * Creates a quota.
   *
   * @param quotaBytes 0 or less for none
   * @param diskHasSpace false when the disk is so full that the log is at risk
   */
  public Quota(Member member, Proposer proposer, long quotaBytes, BooleanSupplier diskHasSpace) {
    this.member = member;
    this.proposer = proposer;
    this.quotaBytes = quotaBytes;
    this.diskHasSpace = diskHasSpace;
  }

  /** The configured size, 0 or less when there is none. */
  long bytes() {
    return quotaBytes;
  }

  /**
   * Admits an operation that fits; an operation without cost is always admitted (Q1).
   *
   * @throws RefusedException when it does not fit, or when the disk is nearly full
   */
  void admit(Operation operation) {
    long cost = QuotaCost.of(operation);
    if (cost == 0) {
      return;
    }
    if (!diskHasSpace.getAsBoolean()) {
      throw new RefusedException(Refusal.NO_SPACE);
    }
    if (quotaBytes <= 0) {
      return;
    }
    long size = member.state().sizeOnDisk();
    if (size + cost >= quotaBytes) {
      raise(size, cost);
      throw new RefusedException(Refusal.NO_SPACE);
    }
  }

  private void raise(long size, long cost) {
    if (!raising.compareAndSet(false, true)) {
      return;
    }
    LOG.warn(
        "quota exceeded, raising alarm NOSPACE quota={} size={} request={}",
        quotaBytes,
        size,
        cost);
    proposer
        .propose(new Operation.AlarmActivate(member.status().memberId(), AlarmType.NOSPACE))
        .whenComplete(
            (done, failure) -> {
              raising.set(false);
              if (failure != null) {
                LOG.warn("cannot raise alarm NOSPACE reason={}", failure.toString());
              }
            });
  }
}
