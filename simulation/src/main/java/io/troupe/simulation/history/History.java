package io.troupe.simulation.history;

import io.troupe.model.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** All that was recorded in a run. */
public final class History {
  private final List<Call> calls = new ArrayList<>();
  private final List<WatchRecord> watches = new ArrayList<>();
  private final List<LeaseEnd> leaseEnds = new ArrayList<>();
  private final SortedMap<Long, List<Event>> committed = new TreeMap<>();

  /** A call ended, or its client gave up. */
  public void add(Call call) {
    calls.add(call);
  }

  /** A watcher was asked for. */
  public void add(WatchRecord watch) {
    watches.add(watch);
  }

  /** A lease ended. */
  public void add(LeaseEnd end) {
    leaseEnds.add(end);
  }

  /** A revision was committed with these events, not empty. */
  public void committed(long revision, List<Event> events) {
    committed.put(revision, List.copyOf(events));
  }

  /** Calls in the order of their ends. */
  public List<Call> calls() {
    return calls;
  }

  /** Watchers in the order in which they were asked for. */
  public List<WatchRecord> watches() {
    return watches;
  }

  /** Ends of leases, oldest first. */
  public List<LeaseEnd> leaseEnds() {
    return leaseEnds;
  }

  /** Events by revision: what the log says, whoever saw it. */
  public SortedMap<Long, List<Event>> committed() {
    return committed;
  }
}
