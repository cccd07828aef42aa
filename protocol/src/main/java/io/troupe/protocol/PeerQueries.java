package io.troupe.protocol;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Sends queries to other members. Implemented by the peer transport; the receiver is {@link
 * PeerResponder}.
 */
@FunctionalInterface
public interface PeerQueries {
  /**
   * Sends a query to the member at {@code peerUrl}.
   *
   * @return the reply; fails with a TimeoutException if none arrived within {@code timeout}: the
   *     query may have been executed nevertheless
   */
  CompletionStage<PeerReply> ask(String peerUrl, PeerQuery query, Duration timeout);
}
