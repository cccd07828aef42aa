package io.troupe.actors.member;

import io.troupe.machine.StateMachine;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.txn.ResponseSpace;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Before a member's actors start, applies the entries that its own log has as committed and that
 * its state lacks. Reads the log in pieces: the memory depends only on the largest entry, however
 * far the state lags (entries that change no key do not flush it). No caller waits for the results,
 * no watch is registered yet, and leases are read from the state afterwards.
 */
final class CommittedReplay {
  private static final Logger LOG = LoggerFactory.getLogger(CommittedReplay.class);

  /**
   * Bytes of one read of the log and of one batch of the state; more only for a single larger
   * entry.
   */
  private static final long PIECE_BYTES = 1 << 20;

  private static final int PIECE_ENTRIES = 512;
  private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(5);

  private CommittedReplay() {}

  /**
   * Applies the entries; the last batch is committed when this returns. Does nothing if the state
   * is older than the log.
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
    long loggedNanos = System.nanoTime();
    while (machine.appliedIndex() < committed) {
      long next = machine.appliedIndex() + 1;
      long until = Math.min(committed + 1, next + PIECE_ENTRIES);
      List<Entry> piece = replay.entries(wal, next, until, PIECE_BYTES).read();
      if (piece.isEmpty() || piece.get(0).index() != next) {
        throw new DataDirException(
            Reason.CORRUPT,
            "entry "
                + next
                + " of the log is missing, the log starts after index "
                + replay.compactedIndex());
      }
      piece.forEach(entry -> apply(machine, entry));
      machine.commit();
      if (System.nanoTime() - loggedNanos >= LOG_INTERVAL_NANOS) {
        loggedNanos = System.nanoTime();
        LOG.info(
            "applying committed entries of the log applied={} committed={}",
            machine.appliedIndex(),
            committed);
      }
    }
    LOG.info(
        "applied committed entries of the log entries={} applied={}", committed - first, committed);
  }

  private static void apply(StateMachine machine, Entry entry) {
    switch (entry.kind()) {
      case NOOP -> machine.noop(entry.index(), entry.term());
      case CONF_CHANGE ->
          machine.confChange(
              entry.index(), entry.term(), MembershipCodec.decodeEntry(entry.data()));
      case OPERATION -> {
        DecodedOperation decoded = OperationCodec.decode(entry.data());
        machine.apply(
            entry.index(),
            entry.term(),
            decoded.requester(),
            decoded.operation(),
            ResponseSpace.none());
      }
    }
  }
}
