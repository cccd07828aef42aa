package io.troupe.protocol;

import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import java.util.List;

/**
 * A query to another member, outside of Raft. A process that is not yet a member may send it, too.
 */
public sealed interface PeerQuery {
  /** Queries the members of the applied state. Reply: {@link PeerReply.Members} (B2, B3). */
  enum MembersQuery implements PeerQuery {
    /** The only instance. */
    INSTANCE
  }

  /**
   * As {@link MembersQuery}, from a process that wants to join. Reply: {@link PeerReply.Members},
   * or Refused with INCOMPATIBLE_VERSION and a text. Members that do not know this query reply as
   * to {@link MembersQuery}.
   *
   * @param server version of etcd's API that the joining program serves
   */
  record JoinQuery(EtcdVersion server) implements PeerQuery {}

  /**
   * Requests the promotion of a learner. For the leader, which checks how far the learner is (M8).
   * Reply: Done, when the change is applied there.
   */
  record PromoteQuery(NodeId member) implements PeerQuery {}

  /**
   * Requests the renewal of leases. For the leader, which alone knows their remaining time (L6).
   * Reply: {@link PeerReply.Renewed}.
   *
   * @param leases not empty
   * @param term term of the sender after its clients sent their requests: it had not voted in a
   *     later one by then. 0 if unknown: members of older versions do not send it, and do not know
   *     {@link PeerReply.Renewed#NOT_YET}
   * @param seen highest number in the replies to its queries of that term; 0 for none
   */
  record RenewQuery(List<Long> leases, long term, long seen) implements PeerQuery {
    /** Copies the list. */
    public RenewQuery {
      leases = List.copyOf(leases);
    }
  }

  /**
   * Queries the remaining time of a lease. For the leader (L7). Reply: {@link PeerReply.Remaining}.
   */
  record TimeToLiveQuery(long lease) implements PeerQuery {}

  /**
   * Queries the hash of the keys at a revision (Q5, MT6). Reply: {@link PeerReply.Hashed}, or
   * Refused with COMPACTED or FUTURE_REVISION.
   *
   * @param revision 0 for the current one
   * @param computed true to compute the hash now, even if the member has the hash of a compaction;
   *     members of older versions ignore it
   */
  record HashQuery(long revision, boolean computed) implements PeerQuery {}

  /** Queries the server version. Reply: {@link PeerReply.Version} (V1). */
  enum VersionQuery implements PeerQuery {
    /** The only instance. */
    INSTANCE
  }

  /** Queries the connected members. For the leader. Reply: {@link PeerReply.Connected}. */
  enum LivenessQuery implements PeerQuery {
    /** The only instance. */
    INSTANCE
  }
}
