package io.troupe.snapshot;

import io.troupe.model.NodeId;
import io.troupe.raft.ReplicationStatus;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides how much of the log is kept before the newest snapshot: what the older snapshots need for
 * a recovery, what slightly lagging followers need, and what a follower that received a snapshot
 * needs until it has caught up. Not thread-safe.
 */
public final class LogRetention {
  /**
   * Limits of the log that is kept for followers.
   *
   * @param catchUpEntries entries before the newest snapshot that are kept for slightly lagging
   *     followers
   * @param catchUpBytes maximum size of the log that is kept for these
   * @param receiverBytes maximum size of the log that is kept for a follower that received a
   *     snapshot
   */
  public record Limits(long catchUpEntries, long catchUpBytes, long receiverBytes) {}

  /** Learns of receivers whose log is removed, because it is larger than the limit. */
  interface Losses {
    /**
     * The receiver is sent another snapshot.
     *
     * @param index last index that the receiver is known to have
     * @param bytes size of the log after it
     */
    void lost(NodeId receiver, long index, long bytes);
  }

  /**
   * A follower that is being sent a snapshot, or received it.
   *
   * @param index last index that the follower is known to have
   */
  private record Receiver(long transfer, long index, boolean transferred) {}

  /**
   * Log that is kept before the newest snapshot, in bytes of whole segments, by reason. Each byte
   * counts once, for the first of these reasons.
   *
   * @param snapshots for the older snapshots
   * @param lagging for slightly lagging followers
   * @param receivers for followers that are being sent a snapshot, or received it and have not
   *     caught up
   */
  public record Retained(long snapshots, long lagging, long receivers) {
    static final Retained NOTHING = new Retained(0, 0, 0);
  }

  private final Limits limits;
  private final Map<NodeId, Receiver> receivers = new HashMap<>();
  private Retained retained = Retained.NOTHING;

  LogRetention(Limits limits) {
    this.limits = limits;
  }

  /**
   * A transfer of the snapshot at {@code index} begins. It replaces an earlier one to the same
   * follower.
   */
  void sending(NodeId to, long transfer, long index) {
    receivers.put(to, new Receiver(transfer, index, false));
  }

  /** A transfer ended. After a failure the follower is sent another snapshot. */
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

  /** Returns true while log is kept for a receiver of a snapshot. */
  boolean hasReceivers() {
    return !receivers.isEmpty();
  }

  /**
   * Updates the progress of the followers.
   *
   * @param status null if this member does not lead; then only the log of the leader matters
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
   * Returns the last index that may be removed from the log.
   *
   * @param newest index of the newest snapshot
   * @param snapshots indexes of all snapshots
   * @param log segments of the log on the disk
   * @param losses learns of receivers that are given up
   */
  long releasable(long newest, List<Long> snapshots, LogExtent log, Losses losses) {
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
        losses.lost(each.getKey(), index, bytes);
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

  /** Log that is kept, as of the last {@link #releasable} or {@link #releasedFor}. */
  Retained retained() {
    return retained;
  }

  /**
   * As {@link #releasable}, when the disk is nearly full: the log that followers need is removed.
   *
   * @param upTo last index that is removed
   * @param losses learns of receivers that need removed log, with the last index that they have
   */
  void releasedFor(long upTo, ObjLongConsumer<NodeId> losses) {
    retained = Retained.NOTHING;
    receivers
        .entrySet()
        .removeIf(
            each -> {
              boolean lost = each.getValue().index() < upTo;
              if (lost) {
                losses.accept(each.getKey(), each.getValue().index());
              }
              return lost;
            });
  }

  /** The oldest snapshot that is not after the newest one of this member's own state. */
  static long oldestUsable(long newest, List<Long> snapshots) {
    return snapshots.stream().mapToLong(Long::longValue).filter(i -> i <= newest).min().orElse(0);
  }
}
