package io.troupe.simulation.world;

import io.troupe.lease.LeaseChange;
import io.troupe.machine.Applied;
import io.troupe.machine.StateMachine;
import io.troupe.machine.StateView;
import io.troupe.model.Bytes;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.Result;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.RevisionChanges;
import io.troupe.raft.membership.MembershipCodec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of all committed entries, beside the members. Its memory is not limited: it has all
 * events of each revision and all records of each response.
 */
final class ReferenceState {
  private static final Applied NOTHING =
      new Applied(new Result.Done(0), 0, RevisionChanges.NONE, List.<LeaseChange>of());

  private final StateMachine machine = new StateMachine(new InMemoryOrderedStore(), 0);
  private final List<Applied> outcomes = new ArrayList<>();

  /**
   * Applies the next entry.
   *
   * @param operation of the entry; null if it has none
   */
  Applied apply(Entry entry, @Nullable DecodedOperation operation) {
    Applied outcome = NOTHING;
    if (operation != null) {
      outcome =
          machine.apply(entry.index(), entry.term(), operation.requester(), operation.operation());
    } else if (entry.kind() == Entry.Kind.CONF_CHANGE) {
      machine.confChange(entry.index(), entry.term(), MembershipCodec.decodeEntry(entry.data()));
    } else {
      machine.noop(entry.index(), entry.term());
    }
    machine.commit();
    outcomes.add(outcome);
    return outcome;
  }

  /** The state that is not in keys. */
  StateView view() {
    return machine.view();
  }

  /** Returns the outcome of an entry that was applied. */
  Applied outcome(long index) {
    return outcomes.get((int) index - 1);
  }

  /**
   * Returns true if a member's outcome is right. It may lack records of the response, which only
   * the member of the caller collects, within its memory. Instead of events that are too large it
   * may have the range of their keys.
   */
  boolean isRight(Entry entry, Applied member) {
    Applied right = outcome(entry.index());
    Result result =
        member.result() instanceof Result.ResponseTooLarge large
            ? large.applied()
            : member.result();
    boolean refused = result instanceof Result.Refused;
    return member.revision() == right.revision()
        && isRight(member.changes(), right.changes())
        && member.leaseChanges().equals(right.leaseChanges())
        && result.getClass().equals(right.result().getClass())
        && (!refused || result.equals(right.result()));
  }

  private static boolean isRight(RevisionChanges member, RevisionChanges right) {
    KeyRange unlisted = member.unlisted();
    if (unlisted == null) {
      return member.equals(right);
    }
    List<Bytes> keys = right.events().stream().map(Event::kv).map(kv -> kv.key()).toList();
    return member.events().isEmpty()
        && !keys.isEmpty()
        && keys.stream().allMatch(unlisted::contains);
  }
}
