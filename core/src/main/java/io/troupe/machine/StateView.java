package io.troupe.machine;

import io.troupe.auth.AuthState;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.ClusterVersions;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.SortedMap;

/**
 * Committed state other than keys. Immutable.
 *
 * @param appliedIndex log index of this state
 * @param appliedTerm term of that entry
 * @param alarms active alarms, by member id as an unsigned number, then type
 * @param members attributes that members published, by id
 * @param peerUrls peer URLs of each member, by id; immutable
 * @param auth users, roles, and whether authentication is enabled
 * @param membership the last one of {@link StateMachine#confChange}; EMPTY if there was none
 * @param versions versions of the cluster and of a downgrade
 */
public record StateView(
    long appliedIndex,
    long appliedTerm,
    List<AlarmMember> alarms,
    SortedMap<NodeId, MemberAttributes> members,
    SortedMap<NodeId, List<String>> peerUrls,
    AuthState auth,
    Membership membership,
    ClusterVersions versions) {

  /** True if this alarm is active for this member. */
  public boolean isAlarmed(NodeId member, AlarmType type) {
    return alarms.contains(new AlarmMember(member, type));
  }

  /** True if any member raised this alarm. */
  public boolean isAlarmed(AlarmType type) {
    for (int i = 0; i < alarms.size(); i++) {
      if (alarms.get(i).type() == type) {
        return true;
      }
    }
    return false;
  }
}
