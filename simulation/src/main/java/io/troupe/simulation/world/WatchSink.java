package io.troupe.simulation.world;

import io.troupe.simulation.history.WatchReply;
import java.util.List;

/** The client's end of a watch stream. */
public interface WatchSink {
  /** Replies came; nothing more comes before the client asks for it. */
  void replies(List<WatchReply> replies);

  /** The stream is gone. */
  void broken();
}
