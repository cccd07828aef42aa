package io.troupe.actors.member;

import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import io.troupe.persistence.wal.Wal;
import io.troupe.raft.ForcedCluster;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.raft.membership.MembershipRules;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start of a member that is to be the only one of its cluster, because the other members are
 * permanently lost (docs/decisions/0124). The whole change is one record of the log, so a crash
 * leaves the former cluster or the new one.
 */
final class ForcedStart {
  private static final Logger LOG = LoggerFactory.getLogger(ForcedStart.class);

  private final RaftState found;
  private final @Nullable ForcedCluster forced;

  private ForcedStart(RaftState found, @Nullable ForcedCluster forced) {
    this.found = found;
    this.forced = forced;
  }

  /** A normal start. */
  static ForcedStart none(RaftState found) {
    return new ForcedStart(found, null);
  }

  /**
   * Checks the data of the member and logs the result. Writes nothing.
   *
   * @param fresh whether there is no log yet and no state
   * @param urls addresses of the members as of the applied index
   * @param others receives the addresses of the members that are to be removed; may throw to reject
   *     the start
   * @throws DataDirException FOREIGN if the member cannot continue alone
   */
  static ForcedStart of(
      RaftState found,
      boolean fresh,
      SortedMap<NodeId, List<String>> urls,
      Consumer<Map<NodeId, List<String>>> others) {
    if (fresh) {
      if (found.entries().isEmpty()) {
        throw refused(found.self(), "it joined its cluster and never received any data");
      }
      LOG.warn("force-new-cluster has nothing to do, the member has no data yet");
      return none(found);
    }
    Optional<ForcedCluster> forced;
    try {
      forced = ForcedCluster.of(found);
    } catch (IllegalArgumentException unknownMember) {
      throw refused(found.self(), String.valueOf(unknownMember.getMessage()));
    }
    if (forced.isEmpty()) {
      LOG.warn(
          "force-new-cluster has nothing to do, this member is already the only one of its cluster;"
              + " remove the setting, because a later start with it would remove members that"
              + " joined");
      return none(found);
    }
    SortedMap<NodeId, List<String>> removed = new TreeMap<>(latest(found, urls));
    removed.keySet().retainAll(forced.get().removed());
    others.accept(removed);
    LOG.warn(
        "force-new-cluster: this member continues alone with its data, all other members are"
            + " permanently removed member-id={} removed-members={}",
        found.self(),
        removed);
    LOG.warn(
        "force-new-cluster: its log is kept to the end, entries that only other members had are"
            + " lost last-index={} entries-not-known-to-be-committed={}",
        forced.get().entry().index() - 1,
        forced.get().assumed());
    return new ForcedStart(found, forced.get());
  }

  /** Returns the addresses as of the end of the log. */
  private static SortedMap<NodeId, List<String>> latest(
      RaftState found, SortedMap<NodeId, List<String>> applied) {
    SortedMap<NodeId, List<String>> latest = applied;
    for (Entry entry : found.entries()) {
      if (entry.kind() == Entry.Kind.CONF_CHANGE && entry.index() > found.applied()) {
        latest = MembershipRules.peerUrlsAfter(latest, MembershipCodec.decodeEntry(entry.data()));
      }
    }
    return latest;
  }

  private static DataDirException refused(NodeId self, String why) {
    return new DataDirException(
        Reason.FOREIGN, "force-new-cluster is not possible with member " + self + ": " + why);
  }

  /**
   * Makes the change durable.
   *
   * @return the state to start with
   * @throws io.troupe.persistence.wal.WalException if the disk fails; the next start finds the
   *     former cluster or the new one
   */
  RaftState write(Wal wal) {
    if (forced == null) {
      return found;
    }
    wal.append(forced.state().hardState(), List.of(forced.entry()));
    wal.sync();
    LOG.warn(
        "force-new-cluster: done; remove the setting before the next start, because it would remove"
            + " members that joined meanwhile, and never start the former members on their old"
            + " data index={} term={}",
        forced.entry().index(),
        forced.entry().term());
    return forced.state();
  }
}
