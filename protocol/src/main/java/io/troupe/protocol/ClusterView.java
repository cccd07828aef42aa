package io.troupe.protocol;

import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipRules;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * The members of one applied state. Immutable.
 *
 * @param peerUrls peer URLs of each member, sorted by text, by id
 * @param published attributes that members published, by id
 */
public record ClusterView(
    Membership membership,
    SortedMap<NodeId, List<String>> peerUrls,
    SortedMap<NodeId, MemberAttributes> published) {

  /**
   * Converts to the form of the membership rules: a member that published a name is started (M3).
   */
  public MembershipRules.Facts facts() {
    Set<NodeId> started =
        published.values().stream()
            .filter(attributes -> !attributes.name().isEmpty())
            .map(MemberAttributes::member)
            .collect(Collectors.toSet());
    return new MembershipRules.Facts(membership, peerUrls, started);
  }

  /** True if {@code member} is a learner. */
  public boolean isLearner(NodeId member) {
    return membership.learners().contains(member);
  }
}
