package io.troupe.version;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** The effects that the shell of a {@link VersionCore} must execute. */
public interface VersionEffects {
  /**
   * Requests a confirmation by a quorum, in a round that begins now, that this member leads in a
   * term. Completed once by {@link VersionCore#leadershipConfirmed}, at the latest after some
   * seconds.
   */
  void confirmLeadership(long term);

  /**
   * Queries the server version of each member of the state as it is now. Completed once by {@link
   * VersionCore#replied}, at the latest after some seconds.
   */
  void queryMembers();

  /**
   * Proposes operations, in this order, each only if this member leads in the term. Completed once
   * by {@link VersionCore#proposalsEnded}, when all of them ended, at the latest after some
   * seconds.
   *
   * @param operations may be empty
   */
  void propose(long term, List<Operation.Versions> operations);

  /**
   * A downgrade continues because some members do not run its target.
   *
   * @param servers version of each member; empty for a member that does not reply
   */
  void downgradeWaits(ClusterVersions now, SortedMap<NodeId, Optional<EtcdVersion>> servers);

  /** This member is older than its cluster or its data and must stop; called once. */
  void tooOld(String reason);
}
