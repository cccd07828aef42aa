package io.troupe.grpc.service;

import io.troupe.model.AlarmType;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses what would take the state over its quota, and raises the alarm that stops writes on every member (Q1). The alarm itself is
 * checked where entries are applied (Q2). Thread-safe.
 */
public final class Quota {
  static final long LEASE_COST = 64;
  private static final long PUT_OVERHEAD = 256;
  private static final Logger LOG = LoggerFactory.getLogger(Quota.class);

  private final Member member;
  private final Proposer proposer;
  private final long quotaBytes;
  private final AtomicBoolean raising = new AtomicBoolean();

  public Quota(Member member, Proposer proposer, long quotaBytes) {
    this.member = member;
    this.proposer = proposer;
    this.quotaBytes = quotaBytes;
  }

  /** The configured size, 0 or less when there is none. */
  long bytes() {
    return quotaBytes;
  }

  /**
   * Lets a request through.
   *
   * @param cost as Q1 counts it; 0 is always let through
   * @throws RefusedException when it would not fit
   */
  void admit(long cost) {
    if (cost == 0 || quotaBytes <= 0) {
      return;
    }
    long size = member.state().sizeOnDisk();
    if (size + cost < quotaBytes) {
      return;
    }
    raise(size);
    throw new RefusedException(Refusal.NO_SPACE);
  }

  private void raise(long size) {
    if (!raising.compareAndSet(false, true)) {
      return;
    }
    LOG.warn("quota exceeded, raising alarm NOSPACE quota={} size={}", quotaBytes, size);
    proposer
        .propose(
            new Operation.AlarmActivate(member.status().memberId(), AlarmType.NOSPACE))
        .whenComplete(
            (done, failure) -> {
              raising.set(false);
              if (failure != null) {
                LOG.warn("alarm NOSPACE could not be raised: {}", failure.toString());
              }
            });
  }

  static long cost(Operation.Put put) {
    return PUT_OVERHEAD + put.key().length() + put.value().length();
  }

  static long cost(Operation.Txn txn) {
    return Math.max(cost(txn.success()), cost(txn.failure()));
  }

  private static long cost(List<Operation.TxnOp> ops) {
    long sum = 0;
    for (Operation.TxnOp op : ops) {
      if (op instanceof Operation.Put put) {
        sum += cost(put);
      } else if (op instanceof Operation.Txn nested) {
        sum += cost(nested);
      }
    }
    return sum;
  }
}
