package io.troupe.machine;

import io.troupe.auth.AuthState;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.SortedMap;

/**
 * Committed facts beside the keys. Immutable.
 *
 * @param appliedIndex log index they belong to
 * @param appliedTerm its term
 * @param alarms active alarms, by member id as an unsigned number, then type
 * @param members what members published, by id
 * @param peerUrls where each member listens for its peers, by id; immutable
 * @param auth users, roles, and whether authentication is on
 * @param membership the last one of {@link StateMachine#confChange}; EMPTY when there was none
 */
public record StateView(
    long appliedIndex,
    long appliedTerm,
    List<AlarmMember> alarms,
    SortedMap<NodeId, MemberAttributes> members,
    SortedMap<NodeId, List<String>> peerUrls,
    AuthState auth,
    Membership membership) {

  /** True when this alarm is active for this member. */
  public boolean isAlarmed(NodeId member, AlarmType type) {
    return alarms.contains(new AlarmMember(member, type));
  }

  /** True when any member raised this alarm. */
  public boolean isAlarmed(AlarmType type) {
    for (int i = 0; i < alarms.size(); i++) {
      if (alarms.get(i).type() == type) {
        return true;
      }
    }
    return false;
  }
}
