package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.raft.membership.MembershipRules;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A leader's knowledge of its peers. A copy, for checks and reporting.
 *
 * @param self the leader
 * @param lastIndex last index of its log
 * @param peers all other members, ascending
 */
public record ReplicationStatus(NodeId self, long lastIndex, SortedMap<NodeId, Peer> peers) {
  /** Copies the map. */
  public ReplicationStatus {
    peers = Collections.unmodifiableSortedMap(new TreeMap<>(peers));
  }

  /**
   * One peer.
   *
   * @param match highest index known to be durable there
   * @param connectedTicks ticks since it replies without a gap; 0 if it does not reply now
   * @param state replication state
   */
  public record Peer(long match, int connectedTicks, PeerState state) {}

  /** Replication state of a peer. */
  public enum PeerState {
    /** One message at a time, until it is known where the logs agree. */
    PROBE,
    /** Several messages ahead, up to the window. */
    REPLICATE,
    /** A snapshot is being sent. */
    SNAPSHOT
  }

  /** The same in the form that the membership rules need; {@code steadyTicks} is 5 s (M5). */
  public MembershipRules.Liveness liveness(int steadyTicks) {
    Set<NodeId> connected = new TreeSet<>(Set.of(self));
    Set<NodeId> steady = new TreeSet<>(Set.of(self));
    for (Map.Entry<NodeId, Peer> peer : peers.entrySet()) {
      int ticks = peer.getValue().connectedTicks();
      if (ticks > 0) {
        connected.add(peer.getKey());
      }
      if (ticks >= steadyTicks) {
        steady.add(peer.getKey());
      }
    }
    return new MembershipRules.Liveness(connected, steady);
  }
}
