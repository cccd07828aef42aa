package io.troupe.simulation.world;

import io.troupe.simulation.history.WatchReply;
import java.util.List;

/** The client side of a watch stream. */
public interface WatchSink {
  /** Replies arrived. No more arrive before the client requests them. */
  void replies(List<WatchReply> replies);

  /** The stream is broken. */
  void broken();
}
