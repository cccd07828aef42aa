package io.troupe.etcd;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.FrozenHistory;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.StoreView;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The rows of a state that fit in memory, by bucket (8.6). */
final class SmallBuckets {
  static final String META = "meta";
  static final String ALARM = "alarm";
  static final String CLUSTER = "cluster";
  static final String MEMBERS = "members";
  static final String MEMBERS_REMOVED = "members_removed";
  static final String AUTH = "auth";
  static final String AUTH_USERS = "authUsers";
  static final String AUTH_ROLES = "authRoles";

  private static final Bytes REMOVED = Bytes.utf8("removed");

  private final SortedMap<String, SortedMap<Bytes, Bytes>> buckets = new TreeMap<>();

  private SmallBuckets() {}

  /** Reads the rows of a frozen state. */
  static SortedMap<String, SortedMap<Bytes, Bytes>> of(
      StoreView view, FrozenHistory at, ClusterVersions versions) {
    SmallBuckets out = new SmallBuckets();
    Bytes encoded = MetaRows.membership(view);
    Membership membership =
        encoded == null ? Membership.EMPTY : MembershipCodec.decodeMembership(encoded);
    out.meta(at, membership, versions);
    out.cluster(versions);
    out.members(view, membership);
    out.alarms(view);
    out.auth(view);
    return out.buckets;
  }

  private SortedMap<Bytes, Bytes> bucket(String name) {
    return buckets.computeIfAbsent(name, absent -> new TreeMap<>());
  }

  private void meta(FrozenHistory at, Membership membership, ClusterVersions versions) {
    SortedMap<Bytes, Bytes> meta = bucket(META);
    meta.put(Bytes.utf8("consistent_index"), EtcdMessages.bigEndian(at.appliedIndex()));
    meta.put(Bytes.utf8("term"), EtcdMessages.bigEndian(at.appliedTerm()));
    meta.put(Bytes.utf8("confState"), Bytes.utf8(confState(membership)));
    put("storageVersion", versions.storage(), meta);
    if (at.compactedRevision() >= 0) {
      // Obsolete versions are left out, so the compaction is finished.
      Bytes compacted = revision(at.compactedRevision());
      meta.put(Bytes.utf8("scheduledCompactRev"), compacted);
      meta.put(Bytes.utf8("finishedCompactRev"), compacted);
    }
  }

  /** As in etcd, the row is absent while the version is not decided. */
  private static void put(
      String key, @Nullable EtcdVersion version, SortedMap<Bytes, Bytes> bucket) {
    if (version != null) {
      bucket.put(Bytes.utf8(key), Bytes.utf8(version.toString()));
    }
  }

  private static Bytes revision(long main) {
    return Bytes.wrap(ByteBuffer.allocate(17).putLong(main).put((byte) '_').putLong(0).array());
  }

  private static String confState(Membership membership) {
    JsonObject state = new JsonObject();
    state.add("voters", ids(membership.voters()));
    if (!membership.learners().isEmpty()) {
      state.add("learners", ids(membership.learners()));
    }
    state.addProperty("auto_leave", false);
    return state.toString();
  }

  private static JsonArray ids(Collection<NodeId> members) {
    JsonArray ids = new JsonArray();
    members.forEach(member -> ids.add(unsigned(member)));
    return ids;
  }

  private static BigInteger unsigned(NodeId member) {
    return new BigInteger(Long.toUnsignedString(member.value()));
  }

  private void cluster(ClusterVersions versions) {
    SortedMap<Bytes, Bytes> cluster = bucket(CLUSTER);
    put("clusterVersion", versions.cluster(), cluster);
    JsonObject downgrade = new JsonObject();
    EtcdVersion target = versions.downgradeTarget();
    downgrade.addProperty("target-version", target == null ? "" : target.toString());
    downgrade.addProperty("enabled", versions.isDowngrading());
    cluster.put(Bytes.utf8("downgrade"), Bytes.utf8(downgrade.toString()));
  }

  private void members(StoreView view, Membership membership) {
    Map<NodeId, List<String>> peerUrls = new HashMap<>();
    MetaRows.forEachPeerUrls(view, peerUrls::put);
    Map<NodeId, MemberAttributes> published = new HashMap<>();
    MetaRows.forEachMember(view, member -> published.put(member.member(), member));
    SortedMap<Bytes, Bytes> members = bucket(MEMBERS);
    for (NodeId member : membership.members()) {
      JsonObject json = new JsonObject();
      json.addProperty("id", unsigned(member));
      json.add("peerURLs", texts(peerUrls.getOrDefault(member, List.of())));
      if (membership.learners().contains(member)) {
        json.addProperty("isLearner", true);
      }
      MemberAttributes attributes = published.get(member);
      if (attributes != null) {
        json.addProperty("name", attributes.name());
        json.add("clientURLs", texts(attributes.clientUrls()));
      }
      members.put(Bytes.utf8(member.toString()), Bytes.utf8(json.toString()));
    }
    SortedMap<Bytes, Bytes> removed = bucket(MEMBERS_REMOVED);
    membership.removed().forEach(member -> removed.put(Bytes.utf8(member.toString()), REMOVED));
  }

  private static JsonArray texts(List<String> texts) {
    JsonArray array = new JsonArray();
    texts.forEach(array::add);
    return array;
  }

  private void alarms(StoreView view) {
    SortedMap<Bytes, Bytes> alarms = bucket(ALARM);
    MetaRows.forEachAlarm(view, alarm -> alarms.put(EtcdMessages.alarm(alarm), Bytes.EMPTY));
  }

  private void auth(StoreView view) {
    AuthRows.Switch auth = AuthRows.auth(view);
    SortedMap<Bytes, Bytes> rows = bucket(AUTH);
    rows.put(Bytes.utf8("authEnabled"), Bytes.of(auth != null && auth.enabled() ? 1 : 0));
    rows.put(
        Bytes.utf8("authRevision"), EtcdMessages.bigEndian(auth == null ? 1 : auth.revision()));
    SortedMap<Bytes, Bytes> users = bucket(AUTH_USERS);
    AuthRows.forEachUser(view, user -> users.put(Bytes.utf8(user.name()), EtcdMessages.user(user)));
    SortedMap<Bytes, Bytes> roles = bucket(AUTH_ROLES);
    AuthRows.forEachRole(view, role -> roles.put(Bytes.utf8(role.name()), EtcdMessages.role(role)));
  }
}
