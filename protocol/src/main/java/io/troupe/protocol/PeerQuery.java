package io.troupe.protocol;

import io.troupe.model.NodeId;
import java.util.List;

/** A question to another member, outside of Raft. Any member may ask, also one that is none yet. */
public sealed interface PeerQuery {
  /** Who are you all? Answered from the applied state with {@link PeerAnswer.Members} (B2, B3). */
  enum MembersQuery implements PeerQuery {
    /** The only one. */
    INSTANCE
  }

  /**
   * Promote a learner. For the leader, which checks how far the learner is (M8). Answered with Done
   * when the change is applied there.
   */
  record PromoteQuery(NodeId member) implements PeerQuery {}

  /**
   * Renew leases. For the leader, which alone knows how much time they have (L6). Answered with
   * {@link PeerAnswer.Renewed}.
   *
   * @param leases not empty
   */
  record RenewQuery(List<Long> leases) implements PeerQuery {
    /** Copies the list. */
    public RenewQuery {
      leases = List.copyOf(leases);
    }
  }

  /** How long has a lease left? For the leader (L7). Answered with {@link PeerAnswer.Remaining}. */
  record TimeToLiveQuery(long lease) implements PeerQuery {}

  /**
   * What is the hash of your keys at a revision (Q5, MT6)? Answered with {@link PeerAnswer.Hashed},
   * or Refused with COMPACTED or FUTURE_REVISION.
   *
   * @param revision 0 for the current one
   * @param computed whether it is to be made now, also if the member remembers one of a compaction;
   *     members of older versions take no notice
   */
  record HashQuery(long revision, boolean computed) implements PeerQuery {}

  /** Who is connected to you? For the leader. Answered with {@link PeerAnswer.Connected}. */
  enum LivenessQuery implements PeerQuery {
    /** The only one. */
    INSTANCE
  }
}
