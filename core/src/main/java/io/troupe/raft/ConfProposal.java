package io.troupe.raft;

import io.troupe.model.RequestId;
import io.troupe.raft.membership.ConfChange;
import java.util.List;

/**
 * A change of the membership that a client wants.
 *
 * @param id for refusing it and for answering it after apply
 * @param changes made together, not empty
 * @param basis {@link io.troupe.raft.membership.Membership#version} of the applied state that the
 *     changes were checked against; the leader takes them only if that is still the latest
 */
public record ConfProposal(RequestId id, List<ConfChange> changes, long basis) {
  /** Copies the list. */
  public ConfProposal {
    changes = List.copyOf(changes);
    if (changes.isEmpty()) {
      throw new IllegalArgumentException("no changes");
    }
  }
}
