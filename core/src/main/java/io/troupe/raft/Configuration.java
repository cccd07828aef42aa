package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.raft.quorum.Quorum;
import java.util.ArrayDeque;
import java.util.List;

/**
 * The membership in effect: the one of the last committed entry of kind CONF_CHANGE. An entry that
 * is in the log but not committed changes nothing here, so nothing must be reverted when it is
 * truncated.
 *
 * <p>That is safe because a leader appends the next such entry only when the previous one is
 * committed: the next one in a log proves it, and every message that carries the next one carries a
 * commit index that covers the previous one. So a member that has the end of a joint membership in
 * its log knows that it is joint, and a member without it cannot win a majority of the old voters.
 * docs/components/raft.md has the complete argument.
 */
final class Configuration {
  private record Pending(long index, ConfEntry entry) {}

  private final ArrayDeque<Pending> pending = new ArrayDeque<>();
  private Membership membership;
  private Quorum quorum;
  private boolean news;

  /**
   * Restores the recovered membership. Entries that the log proves to be committed are committed in
   * {@code log}: of two changes the first one, even if the write with the commit index was cut
   * short.
   */
  Configuration(RaftState recovered, RaftLog log) {
    this.membership = recovered.membership();
    this.quorum = membership.quorum();
    for (Entry entry : recovered.entries()) {
      if (entry.index() > recovered.applied()) {
        appended(entry);
      }
    }
    committedTo(log.commit());
    while (pending.size() > 1) {
      log.commitTo(pending.getFirst().index());
      committedTo(log.commit());
    }
  }

  Membership membership() {
    return membership;
  }

  Quorum quorum() {
    return quorum;
  }

  /** True if an uncommitted entry of kind CONF_CHANGE is in the log. */
  boolean isChangePending() {
    return !pending.isEmpty();
  }

  void appended(List<Entry> entries) {
    for (int i = 0; i < entries.size(); i++) {
      appended(entries.get(i));
    }
  }

  private void appended(Entry entry) {
    if (entry.kind() == Entry.Kind.CONF_CHANGE) {
      ConfEntry decoded = MembershipCodec.decodeEntry(entry.data());
      Invariant.require(
          decoded.after().version() == entry.index(),
          "membership version differs from the index of its entry",
          decoded.after().version(),
          entry.index());
      pending.addLast(new Pending(entry.index(), decoded));
    }
  }

  /** The log is truncated from {@code index} on. */
  void truncatedFrom(long index) {
    while (!pending.isEmpty() && pending.getLast().index() >= index) {
      pending.removeLast();
    }
  }

  /** Entries up to {@code index} are committed. */
  void committedTo(long index) {
    while (!pending.isEmpty() && pending.getFirst().index() <= index) {
      change(pending.removeFirst().entry().after());
    }
  }

  /** A snapshot replaces the log. */
  void restart(Membership ofSnapshot) {
    pending.clear();
    change(ofSnapshot);
  }

  /** Called at the end of each input: of two changes in the log, the first one is committed. */
  void checkPending() {
    Invariant.require(pending.size() <= 1, "two membership changes in flight", pending.size(), 1);
  }

  /** True once after each change. */
  boolean pollChange() {
    boolean was = news;
    news = false;
    return was;
  }

  private void change(Membership next) {
    Invariant.require(
        next.version() >= membership.version(),
        "membership version decreased",
        next.version(),
        membership.version());
    membership = next;
    quorum = next.quorum();
    news = true;
  }
}
