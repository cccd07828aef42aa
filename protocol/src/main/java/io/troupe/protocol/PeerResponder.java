package io.troupe.protocol;

import io.troupe.model.NodeId;
import java.util.concurrent.CompletionStage;

/** Executes the queries of other members. Thread-safe. */
@FunctionalInterface
public interface PeerResponder {
  /**
   * Returns the reply, also a refusal; fails only on a fault.
   *
   * @param from sender; NONE if it is no member
   */
  CompletionStage<PeerReply> answer(NodeId from, PeerQuery query);
}
