package io.troupe.protocol;

import java.util.concurrent.CompletionStage;

/** Answers what other members ask. Thread-safe. */
@FunctionalInterface
public interface PeerResponder {
  /** The answer, a refusal too; fails only on a fault. */
  CompletionStage<PeerAnswer> answer(PeerQuery query);
}
