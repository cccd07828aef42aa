package io.troupe.protocol;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.membership.MembershipRules;
import java.util.List;

/** The answer to a {@link PeerQuery}. */
public sealed interface PeerAnswer {
  /** Answer to MembersQuery; members ascending by id. */
  record Members(long clusterId, List<KnownMember> members) implements PeerAnswer {
    /** Copies the list. */
    public Members {
      members = List.copyOf(members);
    }
  }

  /**
   * A member as another one knows it.
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

  /** Answer to LivenessQuery. */
  record Connected(MembershipRules.Liveness liveness) implements PeerAnswer {}

  /**
   * Answer to RenewQuery.
   *
   * @param ttlSeconds of each lease, in the order of the question; 0 where there is no such lease
   */
  record Renewed(List<Long> ttlSeconds) implements PeerAnswer {
    /** Copies the list. */
    public Renewed {
      ttlSeconds = List.copyOf(ttlSeconds);
    }
  }

  /**
   * Answer to TimeToLiveQuery.
   *
   * @param remainingSeconds -1 when there is no such lease
   * @param grantedSeconds 0 when there is no such lease
   */
  record Remaining(long remainingSeconds, long grantedSeconds) implements PeerAnswer {}

  /** Answer to HashQuery. */
  record Hashed(StateReader.KvHash hash) implements PeerAnswer {}

  /** What was asked for is applied. */
  enum Done implements PeerAnswer {
    /** The only one. */
    INSTANCE
  }

  /** It is not done; NOT_LEADER if only a leader could answer. */
  record Refused(Refusal reason) implements PeerAnswer {}
}
