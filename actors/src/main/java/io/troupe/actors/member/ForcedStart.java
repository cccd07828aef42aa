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
 * The start of a member that shall be the only one of its cluster, because the others are lost for
 * good (docs/decisions/0124). All of it is one record of the log: a crash leaves the former cluster
 * or the new one.
 */
final class ForcedStart {
  private static final Logger LOG = LoggerFactory.getLogger(ForcedStart.class);

  private final RaftState found;
  private final @Nullable ForcedCluster forced;

  private ForcedStart(RaftState found, @Nullable ForcedCluster forced) {
    this.found = found;
    this.forced = forced;
  }

  /** A usual start. */
  static ForcedStart none(RaftState found) {
    return new ForcedStart(found, null);
  }

  /**
   * Checks what the member has, and says what it finds. Writes nothing.
   *
   * @param fresh whether there is no log yet and no state
   * @param urls addresses of the members as of the applied index
   * @param others told the addresses of those that are to be removed; may object by throwing
   * @throws DataDirException FOREIGN if the member cannot continue alone
   */
  static ForcedStart of(
      RaftState found,
      boolean fresh,
      SortedMap<NodeId, List<String>> urls,
      Consumer<Map<NodeId, List<String>>> others) {
    if (fresh) {
      if (found.entries().isEmpty()) {
        throw refused(found.self(), "it joined its cluster and never got any of its data");
      }
      LOG.warn("there is no data yet, so force-new-cluster has nothing to do");
      return none(found);
    }
    Optional<ForcedCluster> forced;
    try {
      forced = ForcedCluster.of(found);
    } catch (IllegalArgumentException stranger) {
      throw refused(found.self(), String.valueOf(stranger.getMessage()));
    }
    if (forced.isEmpty()) {
      LOG.warn(
          "force-new-cluster has nothing to do, because this member is alone in its cluster already;"
              + " leave it out from now on: a later start with it would remove members that join");
      return none(found);
    }
    SortedMap<NodeId, List<String>> removed = new TreeMap<>(latest(found, urls));
    removed.keySet().retainAll(forced.get().removed());
    others.accept(removed);
    LOG.warn(
        "force-new-cluster: this member continues alone with its data, all others are removed for"
            + " good member-id={} removed-members={}",
        found.self(),
        removed);
    LOG.warn(
        "force-new-cluster: its log is kept to the end; what only the others had is lost"
            + " last-index={} entries-not-known-to-be-committed={}",
        forced.get().entry().index() - 1,
        forced.get().assumed());
    return new ForcedStart(found, forced.get());
  }

  /** Addresses at the end of the log. */
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
   * Makes it durable.
   *
   * @return what the member begins with
   * @throws io.troupe.persistence.wal.WalException if the disk does not work; the next start finds
   *     the former cluster or the new one
   */
  RaftState write(Wal wal) {
    if (forced == null) {
      return found;
    }
    wal.append(forced.state().hardState(), List.of(forced.entry()));
    wal.sync();
    LOG.warn(
        "force-new-cluster: done; leave it out at the next start, because it would remove members"
            + " that joined meanwhile, and never start the former members on their old data"
            + " index={} term={}",
        forced.entry().index(),
        forced.entry().term());
    return forced.state();
  }
}
