package io.troupe.server;

import io.troupe.raft.membership.MembershipRules;
import java.time.Duration;

/**
 * Limits of the gateway. Validated where the configuration is read.
 *
 * @param maxRequestBytes largest replicated request (X15)
 * @param maxTxnOps maximum number of compares or operations of a transaction (X2)
 * @param requestTimeout time limit of a write or a linearizable read (Q7)
 * @param electionTimeout interval between two checks whether a leader is known (T5)
 * @param maxPendingBytes of pending proposals; above it new proposals are refused
 * @param minLeaseTtlSeconds see L2
 * @param quotaBytes size of the state at which writes stop (Q1); 0 or less: never
 * @param tick length of a Raft tick
 * @param membership limits of membership changes (M4, M5)
 * @param slowCall duration above which a unary call is logged
 * @param awayOnDefrag whether the health service reports NOT_SERVING during Defragment (MT5)
 * @param priorityRevokes whether revocations of leases are accepted when other proposals are
 *     refused (Q6)
 * @param snapshotBytesPerSecond maximum rate of each Snapshot stream (MT8), 1 or more
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
    boolean priorityRevokes,
    long snapshotBytesPerSecond) {

  /** Largest message that a client may send (T3). */
  public int maxReceiveBytes() {
    return maxRequestBytes + 512 * 1024;
  }
}
