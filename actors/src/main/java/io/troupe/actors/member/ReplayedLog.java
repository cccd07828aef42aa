package io.troupe.actors.member;

import io.troupe.machine.CommittedReplay;
import io.troupe.machine.StateMachine;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.protocol.codec.OperationCodec;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of the log for {@link CommittedReplay}. */
final class ReplayedLog implements CommittedReplay.Log {
  private static final Logger LOG = LoggerFactory.getLogger(ReplayedLog.class);

  /**
   * Bytes of one read of the log and of one batch of the state; more only for a single larger
   * entry.
   */
  private static final long PIECE_BYTES = 1 << 20;

  private static final int PIECE_ENTRIES = 512;
  private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Path wal;
  private final WalReplay replay;
  private final long committed;
  private long loggedNanos = System.nanoTime();

  private ReplayedLog(Path wal, WalReplay replay, long committed) {
    this.wal = wal;
    this.replay = replay;
    this.committed = committed;
  }

  /**
   * Applies the committed entries of the log that the state lacks. Does nothing if the state is
   * older than the log.
   *
   * @param machine of this member; no other thread changes it
   * @param wal directory that {@code replay} was read from; nothing was written since
   * @throws DataDirException CORRUPT if an entry that must be there is missing
   */
  static void apply(StateMachine machine, Path wal, WalReplay replay) {
    long committed = Math.min(replay.hardState().commit(), replay.lastIndex());
    long first = machine.appliedIndex();
    if (first < replay.compactedIndex() || first >= committed) {
      return;
    }
    CommittedReplay.apply(machine, committed, new ReplayedLog(wal, replay, committed));
    LOG.info(
        "applied committed entries of the log entries={} applied={}", committed - first, committed);
  }

  @Override
  public List<Entry> read(long from, long until) {
    List<Entry> piece =
        replay.entries(wal, from, Math.min(until, from + PIECE_ENTRIES), PIECE_BYTES).read();
    if (piece.isEmpty() || piece.get(0).index() != from) {
      throw new DataDirException(
          Reason.CORRUPT,
          "entry "
              + from
              + " of the log is missing, the log starts after index "
              + replay.compactedIndex());
    }
    return piece;
  }

  @Override
  public DecodedOperation decode(Entry entry) {
    return OperationCodec.decode(entry.data());
  }

  @Override
  public void progress(long index) {
    if (System.nanoTime() - loggedNanos >= LOG_INTERVAL_NANOS) {
      loggedNanos = System.nanoTime();
      LOG.info("applying committed entries of the log applied={} committed={}", index, committed);
    }
  }
}
