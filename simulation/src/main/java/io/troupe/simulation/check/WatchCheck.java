package io.troupe.simulation.check;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Event;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.history.WatchReply;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;

/**
 * Compares the replies to a watcher with the committed events: bookmarkable, ordered, unique,
 * atomic, reliable, resumable, previous values, create flags, filters.
 *
 * @source etcd surface 2.9 (W2-W17)
 */
public final class WatchCheck {
  private final SortedMap<Long, List<Event>> committed;
  private final long maxCompaction;

  /**
   * A checker of watchers over one history.
   *
   * @param committed events by revision
   * @param maxCompaction highest revision of which a client requested the compaction; 0 without one
   */
  public WatchCheck(SortedMap<Long, List<Event>> committed, long maxCompaction) {
    this.committed = committed;
    this.maxCompaction = maxCompaction;
  }

  /**
   * Checks one watcher.
   *
   * @throws Violation naming the property that is broken
   */
  public void check(WatchRecord watch) {
    new Run(watch).check();
  }

  /**
   * Checks that an open watcher received all events up to a revision.
   *
   * @throws Violation if an event is missing
   */
  public void checkComplete(WatchRecord watch, long revision) {
    Run run = new Run(watch);
    run.check();
    run.requireReceivedUpTo(revision, "reliable: events are missing at the end");
  }

  private List<Event> committedAt(long revision) {
    List<Event> events = committed.get(revision);
    return events == null ? List.of() : events;
  }

  private final class Run {
    private final WatchRecord watch;
    private final WatchRecord.Asked asked;

    /** First revision whose events were not all received. */
    private long next;

    private boolean created;
    private boolean canceled;

    /** Revision whose events were received in part, with more to come; 0 without one. */
    private long openRevision;

    private int openEvents;

    Run(WatchRecord watch) {
      this.watch = watch;
      this.asked = watch.asked();
      this.next = asked.startRevision();
    }

    void check() {
      for (WatchReply reply : watch.replies()) {
        require(!canceled, "reply after the end", reply, asked);
        if (reply instanceof WatchReply.Created first) {
          require(!created, "created twice", reply, asked);
          created = true;
          next = asked.startRevision() == 0 ? first.revision() + 1 : asked.startRevision();
        } else if (reply instanceof WatchReply.Events events) {
          require(created, "events before the watcher was created", reply, asked);
          events(events);
        } else if (reply instanceof WatchReply.Progress progress) {
          progress(progress);
        } else if (reply instanceof WatchReply.Canceled end) {
          canceled = true;
          require(
              end.compactRevision() > next && end.compactRevision() <= maxCompaction,
              "resumable: canceled without a compaction after it",
              end,
              next,
              asked);
        }
      }
    }

    private void events(WatchReply.Events reply) {
      require(!reply.events().isEmpty(), "a response without events", reply);
      require(
          asked.fragment() || !reply.fragment(), "atomic: fragment that was not requested", reply);
      long before = 0;
      for (Event event : reply.events()) {
        long revision = event.kv().modRevision();
        require(revision >= before, "ordered: a revision goes back in a response", reply);
        require(revision <= reply.headerRevision(), "an event is ahead of its header", reply);
        if (revision != before && before != 0) {
          close(before, reply);
        }
        before = revision;
        one(event, revision, reply);
      }
      if (!reply.fragment()) {
        close(before, reply);
      }
    }

    private void one(Event event, long revision, WatchReply.Events reply) {
      require(revision >= asked.startRevision(), "an event before the start", event, asked);
      require(revision >= next, "unique, ordered: received again or too late", event, next);
      if (openRevision != revision) {
        if (openRevision != 0 && openEvents == wanted(openRevision).size()) {
          // The pieces were cut between two revisions.
          close(openRevision, reply);
        }
        require(openRevision == 0, "atomic: a fragmented revision was not ended", reply);
        requireReceivedUpTo(revision - 1, "reliable: a gap before " + event);
        openRevision = revision;
        openEvents = 0;
      }
      List<Event> wanted = wanted(revision);
      require(openEvents < wanted.size(), "unique, filters: an event too many", event, wanted);
      Event right = wanted.get(openEvents++);
      require(
          event.type() == right.type() && event.kv().equals(right.kv()),
          "another event than was committed (order, create flag, content)",
          event,
          right);
      if (asked.prevKv()) {
        boolean lost = event.prev() == null && revision - 1 < maxCompaction;
        boolean same =
            right.prev() == null ? event.prev() == null : right.prev().equals(event.prev());
        require(same || lost, "previous value", event, right);
      }
    }

    /** Checks that all events of a revision were received together, or in fragments. */
    private void close(long revision, WatchReply.Events reply) {
      require(
          openRevision == revision && openEvents == wanted(revision).size(),
          "atomic: a revision was received in part",
          reply,
          wanted(revision));
      openRevision = 0;
      next = revision + 1;
    }

    private void progress(WatchReply.Progress progress) {
      require(openRevision == 0, "bookmarkable: between fragments", progress);
      require(progress.revision() >= next - 1, "bookmarkable: goes back", progress, next);
      requireReceivedUpTo(progress.revision(), "bookmarkable: too early " + progress);
      next = Math.max(next, progress.revision() + 1);
    }

    private void requireReceivedUpTo(long revision, String what) {
      if (next > revision || next < 1) {
        return;
      }
      for (long at : committed.subMap(next, revision + 1).keySet()) {
        require(wanted(at).isEmpty(), what, at, asked, wanted(at), tail());
      }
    }

    /** The last replies, for the message. */
    private List<WatchReply> tail() {
      List<WatchReply> all = watch.replies();
      return all.subList(Math.max(0, all.size() - 3), all.size());
    }

    private List<Event> wanted(long revision) {
      List<Event> wanted = new ArrayList<>();
      for (Event event : committedAt(revision)) {
        if (asked.range().contains(event.kv().key()) && asked.filter().accepts(event)) {
          wanted.add(event);
        }
      }
      return wanted;
    }
  }
}
