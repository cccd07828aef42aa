package io.troupe.machine;

import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.MvccStore;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Alarms, what members published, and the membership: few, kept in memory and in META. */
final class ClusterFacts {
  private static final Comparator<AlarmMember> ALARM_ORDER =
      Comparator.comparing(AlarmMember::member).thenComparing(AlarmMember::type);

  private final MvccStore store;
  private final TreeSet<AlarmMember> alarms = new TreeSet<>(ALARM_ORDER);
  private final TreeMap<NodeId, MemberAttributes> members = new TreeMap<>();
  private @Nullable Bytes membership;
  private @Nullable StateView published;
  private boolean changed = true;

  ClusterFacts(MvccStore store, OrderedStore rows) {
    this.store = store;
    MetaRows.forEachAlarm(rows, alarms::add);
    MetaRows.forEachMember(rows, member -> members.put(member.member(), member));
    this.membership = MetaRows.membership(rows);
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

  /** MT3: what was ended, or nothing. */
  List<AlarmMember> deactivate(NodeId member, AlarmType type) {
    AlarmMember alarm = new AlarmMember(member, type);
    if (!alarms.remove(alarm)) {
      return List.of();
    }
    changed = true;
    store.removeRow(Space.META, MetaRows.alarm(alarm));
    return List.of(alarm);
  }

  void publish(MemberAttributes attributes) {
    members.put(attributes.member(), attributes);
    changed = true;
    store.putRow(Space.META, MetaRows.member(attributes.member()), MetaRows.value(attributes));
  }

  void membership(Bytes encoded) {
    membership = encoded;
    changed = true;
    store.putRow(Space.META, MetaRows.MEMBERSHIP, encoded);
  }

  /** The facts as they are now; lists and maps are copied only when something changed. */
  StateView view(long index, long term) {
    StateView last = published;
    if (changed || last == null) {
      SortedMap<NodeId, MemberAttributes> copy = new TreeMap<>(members);
      last =
          new StateView(
              index,
              term,
              List.copyOf(alarms),
              Collections.unmodifiableSortedMap(copy),
              membership);
      changed = false;
    } else {
      last = new StateView(index, term, last.alarms(), last.members(), last.membership());
    }
    published = last;
    return last;
  }
}
