package io.troupe.machine;

import io.troupe.lease.LeaseChange;
import io.troupe.model.Event;
import io.troupe.model.Result;
import io.troupe.mvcc.RevisionChanges;
import java.util.List;

/**
 * The outcome of applying one operation. It must not leave the member before {@link
 * StateMachine#commit}.
 *
 * @param result for the client that sent the request
 * @param revision store revision after the operation; the changes belong to this revision
 * @param changes changes of keys
 * @param leaseChanges immutable
 */
public record Applied(
    Result result, long revision, RevisionChanges changes, List<LeaseChange> leaseChanges) {

  /** The events of {@link #changes}. */
  public List<Event> events() {
    return changes.events();
  }
}
