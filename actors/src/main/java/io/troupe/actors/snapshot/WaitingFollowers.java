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
 * Followers for which no snapshot is new enough yet. Holds one request for each; a new request
 * replaces the earlier one. Not thread-safe.
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
   * Removes and returns the requests for which a snapshot is new enough, in the order of their
   * arrival.
   *
   * @return empty if the snapshot has no membership
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
