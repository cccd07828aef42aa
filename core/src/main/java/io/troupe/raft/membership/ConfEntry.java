package io.troupe.raft.membership;

import io.troupe.model.RequestId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an entry of kind CONF_CHANGE says. It carries the whole membership that results, so a member
 * that was started with nothing needs no other entry to know it.
 *
 * <p>A set of changes that alters the voters takes up to three entries; the leader makes all but
 * the first one by itself. The first makes the membership joint and lets newcomers in. The second
 * ends the joint membership. If voters leave, a third one lets them go: whoever has it in its log
 * knows that the second one is committed, so once it is committed itself, the remaining voters need
 * the leaving ones for nothing any more.
 *
 * @param id who waits for the outcome; null for an entry that nobody asked for
 * @param changes in order; of a third entry, the removals that it completes
 * @param after the membership from here on
 */
public record ConfEntry(@Nullable RequestId id, List<ConfChange> changes, Membership after) {
  /** Copies the list. */
  public ConfEntry {
    changes = List.copyOf(changes);
  }

  /** The entry that makes {@code after} of nothing: the first of a new cluster's log. */
  public static ConfEntry bootstrap(List<ConfChange> members) {
    return new ConfEntry(null, members, Membership.EMPTY.after(members, 1));
  }

  /**
   * The entry that follows by itself when {@code before} is committed.
   *
   * @param before not settled
   * @param index where the entry will stand
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
   * voters that are still needed. Those come with the third entry.
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
   * True if whoever waits for {@code id} is answered when this entry is applied; false if it is to
   * be answered with the next entry whose membership is settled, because a voter is still needed.
   */
  public boolean isComplete() {
    return changes.stream().noneMatch(this::isDeferred);
  }

  private boolean isDeferred(ConfChange change) {
    return change.kind() == ConfChange.Kind.REMOVE && after.outgoing().contains(change.member());
  }
}
