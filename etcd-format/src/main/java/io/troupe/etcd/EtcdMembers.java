package io.troupe.etcd;

import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.BoltWalk;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The members in a database of etcd, or of a new cluster.
 *
 * @param voters by id
 * @param learners by id
 * @param removed former members
 * @param peerUrls of each voter and learner
 * @param published what members published about themselves
 */
public record EtcdMembers(
    Set<NodeId> voters,
    Set<NodeId> learners,
    Set<NodeId> removed,
    SortedMap<NodeId, List<String>> peerUrls,
    List<MemberAttributes> published) {

  /** The voters of a new cluster. */
  public static EtcdMembers ofVoters(SortedMap<NodeId, List<String>> peerUrls) {
    return new EtcdMembers(peerUrls.keySet(), Set.of(), Set.of(), peerUrls, List.of());
  }

  /**
   * Reads the members of a database.
   *
   * @throws io.troupe.etcd.bolt.DamagedDatabaseException if a row is malformed
   */
  public static EtcdMembers read(BoltReader file) {
    Set<NodeId> voters = new TreeSet<>();
    Set<NodeId> learners = new TreeSet<>();
    Set<NodeId> removed = new TreeSet<>();
    SortedMap<NodeId, List<String>> peerUrls = new TreeMap<>();
    List<MemberAttributes> published = new ArrayList<>();
    BoltWalk members = file.walk(SmallBuckets.MEMBERS);
    while (members.next()) {
      NodeId id = EtcdJson.member(members.key().utf8());
      EtcdJson member = EtcdJson.parse("member " + id, members.value());
      (member.flag("isLearner") ? learners : voters).add(id);
      peerUrls.put(id, member.texts("peerURLs"));
      MemberAttributes attributes = member.attributes(id);
      if (!attributes.name().isEmpty()) {
        published.add(attributes);
      }
    }
    BoltWalk former = file.walk(SmallBuckets.MEMBERS_REMOVED);
    while (former.next()) {
      removed.add(EtcdJson.member(former.key().utf8()));
    }
    return new EtcdMembers(voters, learners, removed, peerUrls, published);
  }

  /** The membership as it is after the entry at an index. */
  Membership membership(long index) {
    return new Membership(index, voters, learners, Set.of(), Set.of(), removed);
  }
}
