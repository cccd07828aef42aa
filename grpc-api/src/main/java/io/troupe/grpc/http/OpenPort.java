package io.troupe.grpc.http;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;

/** A port that was opened. Thread-safe. */
public interface OpenPort {
  /** Where it listens, for the log: host:port, or the path of a unix socket. */
  String address();

  /** The local port; -1 for a unix socket. */
  int port();

  /**
   * Takes no more connections and ends those that there are.
   *
   * @param grace for requests that are being answered
   * @return done when no connection is left, or the grace is over
   */
  CompletionStage<Done> close(Duration grace);
}
