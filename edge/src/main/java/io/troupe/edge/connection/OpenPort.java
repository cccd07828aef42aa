package io.troupe.edge.connection;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;

/** An open port. Thread-safe. */
public interface OpenPort {
  /** The listening address, for the log: host:port, or the path of a unix socket. */
  String address();

  /** The local port; -1 for a unix socket. */
  int port();

  /**
   * Accepts no more connections and closes the open ones.
   *
   * @param grace time for requests in progress
   * @return completes when no connection is left, or the grace has expired
   */
  CompletionStage<Done> close(Duration grace);
}
