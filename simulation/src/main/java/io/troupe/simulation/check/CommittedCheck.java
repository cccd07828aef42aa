package io.troupe.simulation.check;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyValue;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * Checks that the committed events are consistent: no revision is missing, and create revision,
 * version and previous record of each event follow from the events before it.
 *
 * @source etcd surface 2.1 (R2-R4), 2.9 (W10, W11)
 */
public final class CommittedCheck {
  private CommittedCheck() {}

  /**
   * Checks all events.
   *
   * @param committed by revision, from the first one (2) on
   * @throws Violation naming the first inconsistent event
   */
  public static void check(SortedMap<Long, List<Event>> committed) {
    Map<Bytes, KeyValue> live = new HashMap<>();
    long expected = 2;
    for (Map.Entry<Long, List<Event>> each : committed.entrySet()) {
      long revision = each.getKey();
      require(revision == expected, "a revision is missing", expected, revision);
      require(!each.getValue().isEmpty(), "a revision without events", revision);
      expected++;
      Map<Bytes, KeyValue> before = new HashMap<>(live);
      for (Event event : each.getValue()) {
        check(event, revision, live, before);
      }
    }
  }

  private static void check(
      Event event, long revision, Map<Bytes, KeyValue> live, Map<Bytes, KeyValue> before) {
    KeyValue kv = event.kv();
    KeyValue old = live.get(kv.key());
    require(kv.modRevision() == revision, "event of another revision", revision, event);
    if (event.type() == Event.Type.DELETE) {
      require(old != null, "deletion of nothing", event);
      require(event.equals(Event.delete(kv.key(), revision, before.get(kv.key()))), "prev", event);
      live.remove(kv.key());
      return;
    }
    long create = old == null ? revision : old.createRevision();
    require(kv.createRevision() == create, "create revision", event, old);
    require(kv.version() == (old == null ? 1 : old.version() + 1), "version", event, old);
    KeyValue prev = old == null ? null : before.get(kv.key());
    require(prev == null ? event.prev() == null : prev.equals(event.prev()), "prev", event, prev);
    live.put(kv.key(), kv);
  }
}
