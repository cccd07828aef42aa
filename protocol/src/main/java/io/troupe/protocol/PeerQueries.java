package io.troupe.protocol;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Asks other members. The peer transport serves it; the other end is {@link PeerResponder}. */
@FunctionalInterface
public interface PeerQueries {
  /** No way to anybody. */
  PeerQueries NONE =
      (peerUrl, query, timeout) ->
          CompletableFuture.failedFuture(
              new UnsupportedOperationException("no way to peers, not to " + peerUrl));

  /**
   * Asks whoever listens at {@code peerUrl}.
   *
   * @return the answer; fails if none came within {@code timeout}: what was asked for may have
   *     happened all the same
   */
  CompletionStage<PeerAnswer> ask(String peerUrl, PeerQuery query, Duration timeout);
}
