package io.troupe.actors.snapshot;

import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.SnapshotCommand;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Followers for which no snapshot is new enough yet; one request each, the newest replaces the
 * earlier one. Not thread-safe.
 */
final class WaitingFollowers {
  private final Map<NodeId, SnapshotCommand.Send> requests = new LinkedHashMap<>();

  void add(SnapshotCommand.Send request) {
    requests.put(request.to(), request);
  }

  boolean isEmpty() {
    return requests.isEmpty();
  }

  /**
   * Takes the requests that a snapshot serves, in the order of their arrival; the others stay.
   *
   * @return none if the snapshot names no membership
   */
  List<SnapshotCommand.Send> servedBy(SnapshotRef snapshot) {
    List<SnapshotCommand.Send> served = new ArrayList<>();
    if (snapshot.membership().isEmpty()) {
      return served;
    }
    Iterator<SnapshotCommand.Send> all = requests.values().iterator();
    while (all.hasNext()) {
      SnapshotCommand.Send request = all.next();
      if (snapshot.index() >= request.atLeast()) {
        all.remove();
        served.add(request);
      }
    }
    return served;
  }
}
