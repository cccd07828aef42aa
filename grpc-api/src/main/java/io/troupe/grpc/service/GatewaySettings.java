package io.troupe.grpc.service;

import io.troupe.raft.membership.MembershipRules;
import java.time.Duration;

/**
 * Limits of the gateway. Checked where the configuration is read.
 *
 * @param maxRequestBytes largest replicated request (X15)
 * @param maxTxnOps most compares or operations of a transaction (X2)
 * @param requestTimeout how long a write or a linearizable read may take (Q7)
 * @param electionTimeout between two checks whether there is a leader (T5)
 * @param maxPendingBytes of proposals that are not answered yet; above it they are refused
 * @param minLeaseTtlSeconds see L2
 * @param quotaBytes size of the state at which writes stop (Q1); 0 or less: never
 * @param tick length of a Raft tick
 * @param membership limits of membership changes (M4, M5)
 * @param slowCall a unary call that takes longer is told of in the log
 * @param awayOnDefrag whether the health service sends clients elsewhere during Defragment (MT5)
 * @param priorityRevokes whether ends of leases may wait when other proposals may not (Q6)
 */
public record GatewaySettings(
    int maxRequestBytes,
    int maxTxnOps,
    Duration requestTimeout,
    Duration electionTimeout,
    long maxPendingBytes,
    long minLeaseTtlSeconds,
    long quotaBytes,
    Duration tick,
    MembershipRules.Limits membership,
    Duration slowCall,
    boolean awayOnDefrag,
    boolean priorityRevokes) {

  /** Largest message that a client may send (T3). */
  public int maxReceiveBytes() {
    return maxRequestBytes + 512 * 1024;
  }
}
