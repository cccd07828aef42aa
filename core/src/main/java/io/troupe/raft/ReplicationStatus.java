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
 * What a leader knows of the others. A copy, for checks and reporting.
 *
 * @param self the leader
 * @param lastIndex end of its log
 * @param peers all other members, ascending
 */
public record ReplicationStatus(NodeId self, long lastIndex, SortedMap<NodeId, Peer> peers) {
  /** Copies the map. */
  public ReplicationStatus {
    peers = Collections.unmodifiableSortedMap(new TreeMap<>(peers));
  }

  /**
   * One of the others.
   *
   * @param match highest index known to be durable there
   * @param connectedTicks since when it answers without a break; 0 if it does not answer now
   * @param state how entries reach it
   */
  public record Peer(long match, int connectedTicks, PeerState state) {}

  /** How entries reach a member. */
  public enum PeerState {
    /** One message at a time, until it is known where the logs agree. */
    PROBE,
    /** Messages ahead, up to the window. */
    REPLICATE,
    /** It is sent a snapshot. */
    SNAPSHOT
  }

  /** The same in the form the membership rules ask for; {@code steadyTicks} is 5 s (M5). */
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
