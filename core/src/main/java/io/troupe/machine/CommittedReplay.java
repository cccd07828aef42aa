package io.troupe.machine;

import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.txn.ResponseSpace;
import java.util.List;

/**
 * Before a member's actors start, applies the entries that its own log has as committed and that
 * its state lacks. Reads the log in pieces: the memory depends only on the largest entry, however
 * far the state lags (entries that change no key do not flush it). No caller waits for the results,
 * no watch is registered yet, and leases are read from the state afterwards.
 */
public final class CommittedReplay {
  private CommittedReplay() {}

  /** The log of the member. */
  public interface Log {
    /**
     * Reads the next piece.
     *
     * @param from index of the first entry
     * @param until index after the last committed entry
     * @return contiguous entries, at least one
     * @throws RuntimeException if the entry at {@code from} is missing; ends the replay
     */
    List<Entry> read(long from, long until);

    /** Decodes an entry of kind OPERATION. */
    DecodedOperation decode(Entry entry);

    /** An operation was applied; for checks. */
    default void operationApplied(Entry entry, Applied applied) {}

    /**
     * Whether the replay ends after an entry.
     *
     * @param revision current revision after it
     */
    default boolean isLast(Entry entry, long revision) {
      return false;
    }

    /** A piece is applied and committed to the store, up to {@code index}. */
    default void progress(long index) {}
  }

  /**
   * Applies the entries after the applied index, up to the one that {@link Log#isLast} names; the
   * last piece is committed to the store when this returns.
   *
   * @param machine of this member; no other thread changes it
   * @param committed index of the last committed entry of the log; nothing is applied if the state
   *     has it
   */
  public static void apply(StateMachine machine, long committed, Log log) {
    boolean ended = false;
    while (!ended && machine.appliedIndex() < committed) {
      for (Entry entry : log.read(machine.appliedIndex() + 1, committed + 1)) {
        apply(machine, entry, log);
        ended = log.isLast(entry, machine.currentRevision());
        if (ended) {
          break;
        }
      }
      machine.commit();
      log.progress(machine.appliedIndex());
    }
  }

  private static void apply(StateMachine machine, Entry entry, Log log) {
    long index = entry.index();
    long term = entry.term();
    switch (entry.kind()) {
      case NOOP -> machine.noop(index, term);
      case CONF_CHANGE ->
          machine.confChange(index, term, MembershipCodec.decodeEntry(entry.data()));
      case OPERATION -> {
        DecodedOperation decoded = log.decode(entry);
        log.operationApplied(
            entry,
            machine.apply(
                index, term, decoded.requester(), decoded.operation(), ResponseSpace.none()));
      }
    }
  }
}
