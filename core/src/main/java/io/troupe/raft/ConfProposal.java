package io.troupe.raft;

import io.troupe.model.RequestId;
import io.troupe.raft.membership.ConfChange;
import java.util.List;

/**
 * A membership change that a client requests.
 *
 * @param id used to refuse the proposal and to reply after apply
 * @param changes applied together, not empty
 * @param basis {@link io.troupe.raft.membership.Membership#version} of the applied state against
 *     which the changes were checked; the leader accepts them only if that is still the latest
 */
public record ConfProposal(RequestId id, List<ConfChange> changes, long basis) {
  /** Copies the list. */
  public ConfProposal {
    changes = List.copyOf(changes);
    if (changes.isEmpty()) {
      throw new IllegalArgumentException("changes must not be empty");
    }
  }
}
