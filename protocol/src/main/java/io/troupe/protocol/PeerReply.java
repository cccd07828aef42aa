package io.troupe.protocol;

import io.troupe.lease.LeaseEffects;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.membership.MembershipRules;
import java.util.List;

/** The reply to a {@link PeerQuery}. */
public sealed interface PeerReply {
  /**
   * Reply to MembersQuery and JoinQuery; members ascending by id.
   *
   * @param versions in the state of the replying member; undecided from an older program
   */
  record Members(long clusterId, List<KnownMember> members, ClusterVersions versions)
      implements PeerReply {
    /** Copies the list. */
    public Members {
      members = List.copyOf(members);
    }

    /** A reply of a member whose state has no versions. */
    public Members(long clusterId, List<KnownMember> members) {
      this(clusterId, members, ClusterVersions.UNDECIDED);
    }
  }

  /**
   * A member, as the replying member knows it.
   *
   * @param name empty if it never started
   * @param peerUrls sorted by text
   * @param clientUrls empty if it never started
   */
  record KnownMember(
      NodeId id, String name, List<String> peerUrls, List<String> clientUrls, boolean learner) {
    /** Copies the lists. */
    public KnownMember {
      peerUrls = peerUrls.stream().sorted().toList();
      clientUrls = List.copyOf(clientUrls);
    }
  }

  /** Reply to LivenessQuery. */
  record Connected(MembershipRules.Liveness liveness) implements PeerReply {}

  /**
   * Reply to RenewQuery.
   *
   * @param ttlSeconds of each lease, in the order of the query; 0 for a lease that does not exist;
   *     {@link #NOT_YET}
   * @param number for {@link PeerQuery.RenewQuery#seen} of the next query in the same term; 0 for
   *     none
   */
  record Renewed(List<Long> ttlSeconds, long number) implements PeerReply {
    /** In place of a time: the outcome waits for an entry of the log, so ask again. */
    public static final long NOT_YET = LeaseEffects.NOT_YET;

    /** Copies the list. */
    public Renewed {
      ttlSeconds = List.copyOf(ttlSeconds);
    }
  }

  /**
   * Reply to TimeToLiveQuery.
   *
   * @param remainingSeconds -1 if the lease does not exist
   * @param grantedSeconds 0 if the lease does not exist
   */
  record Remaining(long remainingSeconds, long grantedSeconds) implements PeerReply {}

  /** Reply to HashQuery. */
  record Hashed(StateReader.KvHash hash) implements PeerReply {}

  /** Reply to VersionQuery: the version of etcd's API that the replying member serves. */
  record Version(EtcdVersion server) implements PeerReply {}

  /** The requested change is applied. */
  enum Done implements PeerReply {
    /** The only instance. */
    INSTANCE
  }

  /**
   * The query is refused; NOT_LEADER if only a leader can execute it.
   *
   * @param text details for the operator; may be empty
   */
  record Refused(Refusal reason, String text) implements PeerReply {
    /** A refusal without details. */
    public Refused(Refusal reason) {
      this(reason, "");
    }
  }
}
