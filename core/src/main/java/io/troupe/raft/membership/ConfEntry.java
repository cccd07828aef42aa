package io.troupe.raft.membership;

import io.troupe.model.RequestId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Content of an entry of kind CONF_CHANGE. It contains the whole resulting membership, so a member
 * that started without one needs no other entry to know it.
 *
 * <p>A set of changes that alters the voters takes up to three entries; the leader creates all but
 * the first one by itself. The first makes the membership joint and adds new members. The second
 * ends the joint membership. If voters leave, a third one removes them: a member that has it in its
 * log knows that the second one is committed. So once the third is committed itself, the remaining
 * voters do not need the leaving ones any more.
 *
 * @param id request that waits for the outcome; null for an entry without a request
 * @param changes in order; for a third entry, the removals that it completes
 * @param after the membership from this entry on
 */
public record ConfEntry(@Nullable RequestId id, List<ConfChange> changes, Membership after) {
  /** Copies the list. */
  public ConfEntry {
    changes = List.copyOf(changes);
  }

  /** The entry that creates {@code after} from nothing: the first of a new cluster's log. */
  public static ConfEntry bootstrap(List<ConfChange> members) {
    return new ConfEntry(null, members, Membership.EMPTY.after(members, 1));
  }

  /**
   * The entry that the leader appends by itself when {@code before} is committed.
   *
   * @param before its transition is not complete
   * @param index index of the new entry
   */
  public static ConfEntry following(Membership before, long index) {
    List<ConfChange> changes =
        before.leaving().stream()
            .map(member -> new ConfChange(ConfChange.Kind.REMOVE, member))
            .toList();
    return new ConfEntry(null, changes, before.next(index));
  }

  /**
   * The changes that the state machine makes when it applies this entry: all but the removals of
   * voters that are still needed. Those are part of the third entry.
   */
  public List<ConfChange> effective() {
    List<ConfChange> effective = new ArrayList<>();
    for (ConfChange change : changes) {
      if (!isDeferred(change)) {
        effective.add(change);
      }
    }
    return List.copyOf(effective);
  }

  /**
   * True if the request {@code id} completes when this entry is applied; false if it completes with
   * the next entry whose transition is complete, because a voter is still needed.
   */
  public boolean isComplete() {
    return changes.stream().noneMatch(this::isDeferred);
  }

  private boolean isDeferred(ConfChange change) {
    return change.kind() == ConfChange.Kind.REMOVE && after.outgoing().contains(change.member());
  }
}
