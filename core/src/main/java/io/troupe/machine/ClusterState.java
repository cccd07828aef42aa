package io.troupe.machine;

import io.troupe.auth.AuthState;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.MvccStore;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.raft.membership.MembershipRules;
import io.troupe.version.VersionRules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Alarms, the membership with its peer URLs, the published attributes of members, and the versions
 * of the cluster. All of it is small, and kept in memory and in META.
 */
final class ClusterState {
  private static final Comparator<AlarmMember> ALARM_ORDER =
      Comparator.comparing(AlarmMember::member).thenComparing(AlarmMember::type);

  private final MvccStore store;
  private final TreeSet<AlarmMember> alarms = new TreeSet<>(ALARM_ORDER);
  private final TreeMap<NodeId, MemberAttributes> members = new TreeMap<>();
  private SortedMap<NodeId, List<String>> peerUrls;
  private Membership membership;
  private ClusterVersions versions;
  private @Nullable StateView published;
  private boolean changed = true;

  ClusterState(MvccStore store, OrderedStore rows) {
    this.store = store;
    MetaRows.forEachAlarm(rows, alarms::add);
    MetaRows.forEachMember(rows, member -> members.put(member.member(), member));
    TreeMap<NodeId, List<String>> urls = new TreeMap<>();
    MetaRows.forEachPeerUrls(rows, urls::put);
    this.peerUrls = Collections.unmodifiableSortedMap(urls);
    Bytes encoded = MetaRows.membership(rows);
    this.membership =
        encoded == null ? Membership.EMPTY : MembershipCodec.decodeMembership(encoded);
    this.versions = MetaRows.versions(rows);
  }

  boolean isAlarmed(AlarmType type) {
    for (AlarmMember alarm : alarms) {
      if (alarm.type() == type) {
        return true;
      }
    }
    return false;
  }

  /** MT3: NONE lists all. */
  List<AlarmMember> alarms(AlarmType type) {
    List<AlarmMember> found = new ArrayList<>();
    for (AlarmMember alarm : alarms) {
      if (type == AlarmType.NONE || alarm.type() == type) {
        found.add(alarm);
      }
    }
    return Collections.unmodifiableList(found);
  }

  /** MT3: idempotent; NONE does nothing. */
  List<AlarmMember> activate(NodeId member, AlarmType type) {
    if (type == AlarmType.NONE) {
      return List.of();
    }
    AlarmMember alarm = new AlarmMember(member, type);
    if (alarms.add(alarm)) {
      changed = true;
      store.putRow(Space.META, MetaRows.alarm(alarm), Bytes.EMPTY);
    }
    return List.of(alarm);
  }

  /** MT3: the deactivated alarm, or nothing. */
  List<AlarmMember> deactivate(NodeId member, AlarmType type) {
    AlarmMember alarm = new AlarmMember(member, type);
    if (!alarms.remove(alarm)) {
      return List.of();
    }
    changed = true;
    store.removeRow(Space.META, MetaRows.alarm(alarm));
    return List.of(alarm);
  }

  /**
   * Ignores a node that is not (or no longer) a member: its attributes may be applied after its
   * removal.
   */
  void publish(MemberAttributes attributes) {
    if (!membership.contains(attributes.member())) {
      return;
    }
    members.put(attributes.member(), attributes);
    changed = true;
    store.putRow(Space.META, MetaRows.member(attributes.member()), MetaRows.value(attributes));
  }

  /** Changes the versions of the cluster; returns the reason for a refusal, or null. */
  @Nullable Refusal changeVersions(Operation.Versions operation) {
    VersionRules.Outcome outcome = VersionRules.after(versions, operation);
    ClusterVersions before = versions;
    ClusterVersions after = outcome.versions();
    if (!after.equals(before)) {
      versions = after;
      changed = true;
      store.raiseSchema(MetaRows.VERSIONS_SCHEMA);
      putVersion(MetaRows.CLUSTER_VERSION, before.cluster(), after.cluster());
      putVersion(MetaRows.STORAGE_VERSION, before.storage(), after.storage());
      putVersion(MetaRows.DOWNGRADE_TARGET, before.downgradeTarget(), after.downgradeTarget());
    }
    return outcome.refusal();
  }

  private void putVersion(Bytes key, @Nullable EtcdVersion before, @Nullable EtcdVersion after) {
    if (Objects.equals(before, after)) {
      return;
    }
    if (after == null) {
      store.removeRow(Space.META, key);
    } else {
      store.putRow(Space.META, key, MetaRows.value(after));
    }
  }

  /**
   * Applies the membership and its addresses, and deletes the attributes of removed members (M6).
   */
  void change(ConfEntry entry) {
    membership = entry.after();
    changed = true;
    store.putRow(Space.META, MetaRows.MEMBERSHIP, MembershipCodec.encode(membership));
    peerUrls = MembershipRules.peerUrlsAfter(peerUrls, entry);
    for (ConfChange change : entry.effective()) {
      NodeId member = change.member();
      switch (change.kind()) {
        case ADD_VOTER, ADD_LEARNER, UPDATE ->
            store.putRow(Space.META, MetaRows.peerUrls(member), MetaRows.value(change.peerUrls()));
        case REMOVE -> {
          store.removeRow(Space.META, MetaRows.peerUrls(member));
          if (members.remove(member) != null) {
            store.removeRow(Space.META, MetaRows.member(member));
          }
        }
        case PROMOTE -> {
          // Addresses and attributes stay.
        }
      }
    }
  }

  /** Current state; lists and maps are copied only if something changed. */
  StateView view(long index, long term, AuthState auth) {
    StateView last = published;
    if (changed || last == null) {
      SortedMap<NodeId, MemberAttributes> copy = new TreeMap<>(members);
      last =
          new StateView(
              index,
              term,
              List.copyOf(alarms),
              Collections.unmodifiableSortedMap(copy),
              peerUrls,
              auth,
              membership,
              versions);
      changed = false;
    } else {
      last =
          new StateView(
              index,
              term,
              last.alarms(),
              last.members(),
              last.peerUrls(),
              auth,
              last.membership(),
              last.versions());
    }
    published = last;
    return last;
  }
}
