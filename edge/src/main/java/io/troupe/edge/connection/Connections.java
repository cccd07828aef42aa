package io.troupe.edge.connection;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;

/** Serves the connections of one port, TCP or unix. Thread-safe. */
public interface Connections {
  /** Serves a connection until it is closed; never fails. */
  CompletionStage<Done> serve(ClientConnection accepted);

  /** Closes all connections, including those that are accepted later. */
  CompletionStage<Done> close(Duration grace);
}
