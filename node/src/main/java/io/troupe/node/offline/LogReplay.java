package io.troupe.node.offline;

import io.troupe.machine.CommittedReplay;
import io.troupe.machine.StateMachine;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.persistence.backup.Continuation;
import io.troupe.persistence.backup.LogPart;
import io.troupe.protocol.codec.OperationCodec;
import java.time.Instant;
import java.util.List;

/**
 * Applies the log after a backup to its state, with the state machine of a running member, up to a
 * goal. Reads one file of the log at a time.
 */
final class LogReplay {
  private final Continuation log;
  private final RestoreGoal goal;

  LogReplay(Continuation log, RestoreGoal goal) {
    this.log = log;
    this.goal = goal;
  }

  /**
   * What the state contains.
   *
   * @param time a moment at which all of it was applied
   */
  record Reached(long index, long revision, Instant time) {
    /** False if the log ends before a revision. */
    boolean contains(RestoreGoal goal) {
      return goal.revision() <= revision;
    }
  }

  /** Collects the time while the log is read. */
  private static final class Progress implements Continuation.Receiver {
    private final StateMachine machine;
    private final RestoreGoal goal;
    private Instant time;

    Progress(StateMachine machine, RestoreGoal goal, Instant time) {
      this.machine = machine;
      this.goal = goal;
      this.time = time;
    }

    @Override
    public boolean next(List<Entry> entries, LogPart part) {
      if (!goal.wants(part)) {
        return false;
      }
      CommittedReplay.apply(machine, part.last(), new Part(entries, goal));
      time = part.time();
      return !goal.isReached(machine.currentRevision());
    }
  }

  private record Part(List<Entry> entries, RestoreGoal goal) implements CommittedReplay.Log {
    @Override
    public List<Entry> read(long from, long until) {
      return entries;
    }

    @Override
    public DecodedOperation decode(Entry entry) {
      try {
        return OperationCodec.decode(entry.data());
      } catch (IllegalStateException e) {
        throw new CommandException("entry " + entry.index() + " of the log: " + e.getMessage());
      }
    }

    @Override
    public boolean isLast(Entry entry, long revision) {
      return goal.isReached(revision);
    }
  }

  /**
   * Applies the entries; the state is committed to its store afterwards.
   *
   * @param machine with the state of the backup
   * @throws io.troupe.persistence.backup.BackupException if the log is damaged
   * @throws CommandException if an entry is of a newer version
   */
  Reached apply(StateMachine machine) {
    Progress progress = new Progress(machine, goal, log.backup().time());
    if (goal.useLog() && !goal.isReached(machine.currentRevision())) {
      log.read(progress);
    }
    return new Reached(machine.appliedIndex(), machine.currentRevision(), progress.time);
  }
}
