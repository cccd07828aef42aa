package io.troupe.protocol;

import java.util.concurrent.CompletionStage;

/** Executes the queries of other members. Thread-safe. */
@FunctionalInterface
public interface PeerResponder {
  /** Returns the reply, also a refusal; fails only on a fault. */
  CompletionStage<PeerReply> answer(PeerQuery query);
}
