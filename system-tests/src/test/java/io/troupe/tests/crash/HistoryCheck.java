package io.troupe.tests.crash;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the events of the watch with the writes of the clients, revision by revision: each
 * revision is the complete effect of exactly one write on the state before it, each acknowledged
 * write has its revision, an unknown one has at most one. One thread.
 */
final class HistoryCheck {
  private final Journal journal;
  private final NavigableMap<String, Write.Version> state = new TreeMap<>();
  private final List<Write> unknown = new ArrayList<>();
  private final List<String> complaints = new ArrayList<>();
  private NavigableMap<Long, NavigableMap<String, Write.Version>> samples = new TreeMap<>();
  private long checked;
  private long expiries;
  private long unknownThatHappened;

  HistoryCheck(Journal journal, long from) {
    this.journal = journal;
    this.checked = from;
  }

  /** The last checked revision; {@link #state} is the state at it. */
  long checked() {
    return checked;
  }

  NavigableMap<String, Write.Version> state() {
    return state;
  }

  /** The state at some revisions of the last check. */
  NavigableMap<Long, NavigableMap<String, Write.Version>> samples() {
    return samples;
  }

  List<String> complaints() {
    return complaints;
  }

  /** Leases that expired and deleted keys. */
  long expiries() {
    return expiries;
  }

  /** Writes without a response that were applied. */
  long unknownThatHappened() {
    return unknownThatHappened;
  }

  /**
   * Checks the revisions up to {@code through}.
   *
   * @param writes noted since the last check; all acknowledged ones are at or below through
   */
  void check(
      NavigableMap<Long, List<RecordedWatch.Seen>> events, List<Write> writes, long through) {
    Map<Long, List<Write>> acknowledged = new HashMap<>();
    Map<String, Write> byId = new HashMap<>();
    for (Write write : writes) {
      if (write.outcome == Write.Outcome.ACKNOWLEDGED) {
        acknowledged.computeIfAbsent(write.revision, r -> new ArrayList<>()).add(write);
      } else if (write.outcome == Write.Outcome.UNKNOWN) {
        unknown.add(write);
      }
      byId.put(write.id, write);
    }
    unknown.forEach(write -> byId.put(write.id, write));
    samples = new TreeMap<>();
    long every = Math.max(1, (through - checked) / 5);
    Set<Write> explained = new HashSet<>();
    idle(acknowledged.getOrDefault(checked, List.of()), explained, checked);
    for (long revision = checked + 1; revision <= through; revision++) {
      List<RecordedWatch.Seen> seen = events.get(revision);
      if (seen == null) {
        complain(revision, "the watch has a gap");
        break;
      }
      step(revision, seen, acknowledged.getOrDefault(revision, List.of()), byId, explained);
      if (revision % every == 0) {
        samples.put(revision, new TreeMap<>(state));
      }
    }
    for (Write write : writes) {
      if (write.outcome == Write.Outcome.ACKNOWLEDGED && !explained.contains(write)) {
        complaints.add("acknowledged, but not in the history: " + write);
      }
    }
    // The member has restarted since: a write that is not in its log now never will be.
    unknown.clear();
    checked = through;
  }

  private void step(
      long revision,
      List<RecordedWatch.Seen> seen,
      List<Write> acknowledged,
      Map<String, Write> byId,
      Set<Write> explained) {
    List<Write.Change> changes = new ArrayList<>();
    for (RecordedWatch.Seen event : seen) {
      String key = event.change().key();
      Write.Version before = state.get(key);
      if (before == null ? event.previous() != null : !before.equals(event.previous())) {
        complain(
            revision, "previous value of " + key + " is " + event.previous() + ", not " + before);
      }
      changes.add(event.change());
    }
    changes.sort(Comparator.comparing(Write.Change::key));
    Write cause = cause(revision, changes, acknowledged, byId);
    if (cause == null) {
      complain(revision, "no write caused " + changes);
    } else {
      if (cause.acknowledgedBefore >= revision) {
        complain(
            revision, "came after " + cause.acknowledgedBefore + " was acknowledged: " + cause);
      }
      explained.add(cause);
      if (unknown.remove(cause)) {
        unknownThatHappened++;
      }
    }
    for (Write.Change change : changes) {
      Write.Version version = change.version();
      if (version == null) {
        state.remove(change.key());
      } else {
        state.put(change.key(), version);
      }
    }
    idle(acknowledged, explained, revision);
  }

  /** The one write whose complete effect is this revision; null if there is none. */
  private @Nullable Write cause(
      long revision,
      List<Write.Change> changes,
      List<Write> acknowledged,
      Map<String, Write> byId) {
    for (Write write : acknowledged) {
      if (changes.equals(write.predict(state, revision))) {
        return write;
      }
    }
    for (Write.Change change : changes) {
      Write.Version version = change.version();
      if (version != null) {
        Write named = byId.get(version.value().substring(0, version.value().indexOf(' ')));
        boolean fits =
            named != null
                && named.outcome == Write.Outcome.UNKNOWN
                && named.acknowledgedBefore < revision
                && unknown.contains(named)
                && changes.equals(named.predict(state, revision));
        return fits ? named : null;
      }
    }
    for (Write write : unknown) {
      if (write.acknowledgedBefore < revision && changes.equals(write.predict(state, revision))) {
        return write;
      }
    }
    return expiry(revision, changes);
  }

  private @Nullable Write expiry(long revision, List<Write.Change> changes) {
    Write.Version first = state.get(changes.get(0).key());
    if (first == null || first.lease() == 0 || !journal.mayEnd(first.lease())) {
      return null;
    }
    Write expiry = new Write("expiry", new Write.Revoke(first.lease()), 0);
    if (!changes.equals(expiry.predict(state, revision))) {
      return null;
    }
    expiries++;
    return expiry;
  }

  /** Acknowledged at this revision without its own revision: the write must have had no effect. */
  private void idle(List<Write> acknowledged, Set<Write> explained, long revision) {
    for (Write write : acknowledged) {
      if (!explained.contains(write) && write.predict(state, revision + 1).isEmpty()) {
        explained.add(write);
      }
    }
  }

  private void complain(long revision, String what) {
    complaints.add("revision " + revision + ": " + what);
  }
}
