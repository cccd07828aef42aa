package io.troupe.grpc.http;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;

/** What happens to the connections of one port, wherever they come from. Thread-safe. */
interface Connections {
  /** Serves a connection to its end; never fails. */
  CompletionStage<Done> serve(ClientConnection accepted);

  /** Ends all connections, those too that still come. */
  CompletionStage<Done> close(Duration grace);
}
