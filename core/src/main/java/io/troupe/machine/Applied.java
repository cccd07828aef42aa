package io.troupe.machine;

import io.troupe.model.Event;
import io.troupe.model.Result;
import io.troupe.mvcc.RevisionChanges;
import java.util.List;

/**
 * What applying one operation came to. It may leave the member only after {@link
 * StateMachine#commit}.
 *
 * @param result for the client whose request this is
 * @param revision store revision after it; the changes are of this one
 * @param changes what happened to keys
 * @param leaseChanges immutable
 */
public record Applied(
    Result result, long revision, RevisionChanges changes, List<LeaseChange> leaseChanges) {

  /** The events of {@link #changes}. */
  public List<Event> events() {
    return changes.events();
  }
}
