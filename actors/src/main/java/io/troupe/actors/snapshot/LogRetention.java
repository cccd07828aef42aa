package io.troupe.actors.snapshot;

import io.troupe.model.NodeId;
import io.troupe.persistence.wal.LogExtent;
import io.troupe.raft.ReplicationStatus;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How much of the log stays below the newest snapshot: what the older snapshots need for a
 * recovery, what followers need that lag a little, and what a follower needs that got a snapshot,
 * until it has caught up. Not thread-safe: part of the snapshot actor.
 */
final class LogRetention {
  private static final Logger LOG = LoggerFactory.getLogger(LogRetention.class);

  /**
   * Limits of what stays for followers.
   *
   * @param catchUpEntries entries below the newest snapshot for followers that lag a little
   * @param catchUpBytes most log that stays for those
   * @param receiverBytes most log that stays for a follower that got a snapshot
   */
  record Limits(long catchUpEntries, long catchUpBytes, long receiverBytes) {}

  /**
   * A follower that gets a snapshot, or got it.
   *
   * @param index last index that the follower has, as far as is known
   */
  private record Receiver(long transfer, long index, boolean transferred) {}

  /**
   * Log below the newest snapshot that stays on the disk, in bytes of whole segments, and why. Each
   * byte counts once, for the first of these reasons.
   *
   * @param snapshots for the older snapshots
   * @param lagging for followers that lag a little
   * @param receivers for followers that get a snapshot, or got it and have not caught up
   */
  record Retained(long snapshots, long lagging, long receivers) {
    static final Retained NOTHING = new Retained(0, 0, 0);
  }

  private final Limits limits;
  private final Map<NodeId, Receiver> receivers = new HashMap<>();
  private Retained retained = Retained.NOTHING;

  LogRetention(Limits limits) {
    this.limits = limits;
  }

  /** A transfer of the snapshot at {@code index} begins; an earlier one to the follower is void. */
  void sending(NodeId to, long transfer, long index) {
    receivers.put(to, new Receiver(transfer, index, false));
  }

  /** A transfer ended. After a failure the follower gets another snapshot. */
  void ended(NodeId to, long transfer, boolean ok) {
    Receiver receiver = receivers.get(to);
    if (receiver == null || receiver.transfer() != transfer) {
      return;
    }
    if (ok) {
      receivers.put(to, new Receiver(transfer, receiver.index(), true));
    } else {
      receivers.remove(to);
    }
  }

  /** True while the log stays for a receiver of a snapshot. */
  boolean hasReceivers() {
    return !receivers.isEmpty();
  }

  /**
   * How far the followers are.
   *
   * @param status null if this member does not lead: the log of the leader counts
   */
  void replicated(@Nullable ReplicationStatus status) {
    Iterator<Map.Entry<NodeId, Receiver>> all = receivers.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<NodeId, Receiver> each = all.next();
      Receiver receiver = each.getValue();
      ReplicationStatus.Peer peer = status == null ? null : status.peers().get(each.getKey());
      if (status != null && peer != null) {
        each.setValue(
            new Receiver(
                receiver.transfer(),
                Math.max(receiver.index(), peer.match()),
                receiver.transferred()));
      }
      if (receiver.transferred() && (status == null || peer == null || hasCaughtUp(status, peer))) {
        all.remove();
      }
    }
  }

  private boolean hasCaughtUp(ReplicationStatus status, ReplicationStatus.Peer peer) {
    return peer.state() == ReplicationStatus.PeerState.REPLICATE
        && status.lastIndex() - peer.match() <= limits.catchUpEntries();
  }

  /**
   * The last index that the log may lose.
   *
   * @param newest index of the newest snapshot
   * @param snapshots indexes of all snapshots
   * @param log what the log takes on the disk
   */
  long releasable(long newest, List<Long> snapshots, LogExtent log) {
    long forSnapshots = oldestUsable(newest, snapshots);
    long lagging =
        Math.max(
            newest - limits.catchUpEntries(),
            Math.min(newest, log.lastIndexOutside(limits.catchUpBytes())));
    long forLagging = Math.min(forSnapshots, lagging);
    long upTo = forLagging;
    Iterator<Map.Entry<NodeId, Receiver>> all = receivers.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<NodeId, Receiver> each = all.next();
      long index = each.getValue().index();
      if (index >= upTo) {
        continue;
      }
      long bytes = log.bytesAfter(index);
      if (bytes > limits.receiverBytes()) {
        LOG.warn(
            "released log that a receiver of a snapshot needs, it is sent another snapshot;"
                + " raise troupe.catch-up-log-bytes remote-peer-id={} index={} log-bytes={}",
            each.getKey(),
            index,
            bytes);
        all.remove();
      } else {
        upTo = index;
      }
    }
    retained =
        new Retained(
            bytesBetween(forSnapshots, newest, log),
            bytesBetween(forLagging, forSnapshots, log),
            bytesBetween(upTo, forLagging, log));
    return upTo;
  }

  private static long bytesBetween(long from, long to, LogExtent log) {
    return log.bytesAfter(from) - log.bytesAfter(to);
  }

  /** As of the last {@link #releasable} or {@link #releasedFor}. */
  Retained retained() {
    return retained;
  }

  /**
   * As {@link #releasable}, when the disk is nearly full: what followers need goes.
   *
   * @param upTo last index that goes
   */
  void releasedFor(long upTo) {
    retained = Retained.NOTHING;
    receivers
        .entrySet()
        .removeIf(
            each -> {
              boolean lost = each.getValue().index() < upTo;
              if (lost) {
                LOG.warn(
                    "disk is nearly full, released log that a receiver of a snapshot needs, it is"
                        + " sent another snapshot remote-peer-id={} index={}",
                    each.getKey(),
                    each.getValue().index());
              }
              return lost;
            });
  }

  /** The oldest snapshot that does not lie above the newest one of this member's own state. */
  static long oldestUsable(long newest, List<Long> snapshots) {
    return snapshots.stream().mapToLong(Long::longValue).filter(i -> i <= newest).min().orElse(0);
  }
}
