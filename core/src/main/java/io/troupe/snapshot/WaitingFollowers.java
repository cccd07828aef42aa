package io.troupe.snapshot;

import io.troupe.model.NodeId;
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
  private final Map<NodeId, SnapshotRequest> requests = new LinkedHashMap<>();

  void add(SnapshotRequest request) {
    requests.put(request.to(), request);
  }

  boolean isEmpty() {
    return requests.isEmpty();
  }

  /**
   * Removes and returns the requests for which a snapshot at {@code index} is new enough, in the
   * order of their arrival.
   */
  List<SnapshotRequest> servedBy(long index) {
    List<SnapshotRequest> served = new ArrayList<>();
    Iterator<SnapshotRequest> all = requests.values().iterator();
    while (all.hasNext()) {
      SnapshotRequest request = all.next();
      if (index >= request.atLeast()) {
        all.remove();
        served.add(request);
      }
    }
    return served;
  }
}
