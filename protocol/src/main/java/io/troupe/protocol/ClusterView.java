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
 * The members as one applied state has them. Immutable.
 *
 * @param peerUrls where each member listens for its peers, sorted by text, by id
 * @param published what members published of themselves, by id
 */
public record ClusterView(
    Membership membership,
    SortedMap<NodeId, List<String>> peerUrls,
    SortedMap<NodeId, MemberAttributes> published) {

  /** In the form that the membership rules ask for: who published a name is started (M3). */
  public MembershipRules.Facts facts() {
    Set<NodeId> started =
        published.values().stream()
            .filter(attributes -> !attributes.name().isEmpty())
            .map(MemberAttributes::member)
            .collect(Collectors.toSet());
    return new MembershipRules.Facts(membership, peerUrls, started);
  }

  /** True if {@code member} only receives the log. */
  public boolean isLearner(NodeId member) {
    return membership.learners().contains(member);
  }
}
