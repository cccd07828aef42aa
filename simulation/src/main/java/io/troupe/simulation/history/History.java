package io.troupe.simulation.history;

import io.troupe.model.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The record of a run. */
public final class History {
  private final List<Call> calls = new ArrayList<>();
  private final List<WatchRecord> watches = new ArrayList<>();
  private final List<LeaseEnd> leaseEnds = new ArrayList<>();
  private final SortedMap<Long, List<Event>> committed = new TreeMap<>();

  /** Adds a call that ended or timed out. */
  public void add(Call call) {
    calls.add(call);
  }

  /** Adds a requested watcher. */
  public void add(WatchRecord watch) {
    watches.add(watch);
  }

  /** Adds the end of a lease. */
  public void add(LeaseEnd end) {
    leaseEnds.add(end);
  }

  /** Adds a committed revision with its events, not empty. */
  public void committed(long revision, List<Event> events) {
    committed.put(revision, List.copyOf(events));
  }

  /** Calls in the order of their ends. */
  public List<Call> calls() {
    return calls;
  }

  /** Watchers in the order of their requests. */
  public List<WatchRecord> watches() {
    return watches;
  }

  /** Ends of leases, oldest first. */
  public List<LeaseEnd> leaseEnds() {
    return leaseEnds;
  }

  /** Committed events by revision, whether a client received them or not. */
  public SortedMap<Long, List<Event>> committed() {
    return committed;
  }
}
