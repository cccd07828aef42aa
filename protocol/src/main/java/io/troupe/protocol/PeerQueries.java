package io.troupe.protocol;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Asks other members. The peer transport serves it; the other end is {@link PeerResponder}. */
@FunctionalInterface
public interface PeerQueries {
  /**
   * Asks whoever listens at {@code peerUrl}.
   *
   * @return the answer; fails with a TimeoutException if none came within {@code timeout}: what was
   *     asked for may have happened all the same
   */
  CompletionStage<PeerAnswer> ask(String peerUrl, PeerQuery query, Duration timeout);
}
