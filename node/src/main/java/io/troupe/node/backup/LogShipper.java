package io.troupe.node.backup;

import io.troupe.model.Entry;
import io.troupe.mvcc.FrozenHistory;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupLog;
import io.troupe.persistence.backup.BackupLog.End;
import io.troupe.persistence.backup.BackupTarget;
import io.troupe.persistence.backup.LogPart;
import io.troupe.protocol.MemberStatus;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the applied entries of this member's log to the target while the member leads. Applied
 * entries are committed: no later leader has others. Blocking; one caller at a time.
 */
final class LogShipper {
  private static final Logger LOG = LoggerFactory.getLogger(LogShipper.class);

  private static final long LEAST_PART_BYTES = 1 << 20;
  private static final long MOST_PART_BYTES = 8 << 20;

  /** Reads entries of this member's log. */
  interface Entries {
    /**
     * Reads durable entries.
     *
     * @param until index after the last one
     * @param maxBytes the read stops with the entry that reaches this size
     * @return contiguous from the first one; empty if that is not in the log any more
     * @throws BackupException if the log does not respond in time
     */
    List<Entry> read(long from, long until, long maxBytes);
  }

  private final long cluster;
  private final MemberStatus status;
  private final Supplier<FrozenHistory> applied;
  private final Entries entries;
  private final Clock clock;
  private final long partBytes;

  /** Where the stream ends that this member continues; null if that must be looked up. */
  private @Nullable End end;

  private volatile long begins;
  private volatile @Nullable Instant complete;

  /**
   * Creates the shipper of one member.
   *
   * @param applied position of the state, all of one moment
   */
  LogShipper(
      long cluster,
      MemberStatus status,
      Supplier<FrozenHistory> applied,
      Entries entries,
      Clock clock) {
    this.cluster = cluster;
    this.status = status;
    this.applied = applied;
    this.entries = entries;
    this.clock = clock;
    // A part is in memory twice.
    long share = Runtime.getRuntime().maxMemory() / 64;
    this.partBytes = Math.max(LEAST_PART_BYTES, Math.min(MOST_PART_BYTES, share));
  }

  /** Index of the first entry of the stream that this member continues; 0 if there is none. */
  long begins() {
    return begins;
  }

  /** A moment whose entries this member has shipped; null if it has shipped nothing. */
  @Nullable Instant complete() {
    return complete;
  }

  /**
   * Writes what was applied since the last call, if this member leads.
   *
   * @throws BackupException if the target cannot be read or written
   */
  void ship(BackupTarget target) {
    if (status.leader().isNone() || !status.leader().equals(status.memberId())) {
      end = null;
      begins = 0;
      return;
    }
    Instant before = Instant.ofEpochMilli(clock.millis());
    FrozenHistory to = applied.get();
    // Read afterwards: a restore to a moment must not contain what was applied later.
    Instant time = Instant.ofEpochMilli(clock.millis());
    BackupLog log = new BackupLog(target);
    End from = end == null ? resume(log, to) : end;
    if (from == null) {
      return;
    }
    continueAt(from);
    ship(log, from, to, time);
    complete = before;
  }

  /** The next run continues there also after a failure: files may overlap. */
  private void continueAt(End at) {
    end = at;
    begins = at.first();
  }

  private void ship(BackupLog log, End from, FrozenHistory to, Instant time) {
    End at = from;
    while (at.last() < to.appliedIndex()) {
      List<Entry> next = entries.read(at.last() + 1, to.appliedIndex() + 1, partBytes);
      if (next.isEmpty()) {
        LOG.warn(
            "the log in the target has a gap, this member has no entry {} any more", at.last() + 1);
        continueAt(begin(log, to));
        return;
      }
      long last = next.get(next.size() - 1).index();
      long revision = last == to.appliedIndex() ? to.revision() : 0;
      at = log.append(at, new LogPart(cluster, at.lastTerm(), time, revision, next));
      continueAt(at);
    }
  }

  private End begin(BackupLog log, FrozenHistory after) {
    End begun = log.begin(cluster, after.appliedIndex(), after.appliedTerm());
    LOG.info(
        "a new stream of the log begins after entry {}, the next backup makes it usable",
        after.appliedIndex());
    return begun;
  }

  /** Null if this member has not applied the last entry in the target yet. */
  private @Nullable End resume(BackupLog log, FrozenHistory to) {
    End newest = log.newest(cluster);
    if (newest == null) {
      return begin(log, to);
    }
    if (newest.last() > to.appliedIndex() && newest.lastTerm() >= to.appliedTerm()) {
      return null;
    }
    if (isOwn(newest, to)) {
      LOG.info("the log in the target is continued after entry {}", newest.last());
      return newest;
    }
    LOG.warn(
        "the log in the target cannot be continued, this member has no entry {} of term {}",
        newest.last(),
        newest.lastTerm());
    return begin(log, to);
  }

  /** Whether this member has the last entry of a stream. */
  private boolean isOwn(End stream, FrozenHistory to) {
    if (stream.last() == to.appliedIndex()) {
      return stream.lastTerm() == to.appliedTerm();
    }
    if (stream.last() > to.appliedIndex()) {
      return false;
    }
    List<Entry> same = entries.read(stream.last(), stream.last() + 1, 1);
    return !same.isEmpty() && same.get(0).term() == stream.lastTerm();
  }
}
