package io.troupe.watch;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the changes of a batch of entries for the watch hub, within the memory of the event
 * backlog. Never waits for the hub. While the backlog is full, the hub receives only the missed
 * revisions and their keys, and its watchers read the events from history. One thread.
 */
public final class CommitBatcher {
  /** The effects that the shell must execute. The hub receives the messages in this order. */
  public interface Effects {
    /**
     * Sends changes to the hub.
     *
     * @param commits in revision order, at least one
     * @param memory memory of their events; the hub releases it after it handled the message
     */
    void publish(List<Commit> commits, EventBacklog.Lot memory);

    /** Sends missed revisions to the hub; more are added until the hub takes them. */
    void publishMissed(MissedRevisions revisions);

    /** Sends to the hub that permissions changed. */
    void publishRightsChanged();

    /** Revisions were missed; for statistics. */
    void missed(int revisions);
  }

  /** Approximate memory of a revision besides its events. */
  private static final long COMMIT_BYTES = 128;

  private final EventBacklog backlog;
  private final Effects effects;
  private final List<Commit> commits = new ArrayList<>();
  private long pendingBytes;

  /** The last message, if it reported missed revisions. */
  private @Nullable MissedRevisions missed;

  /** Starts without changes. */
  public CommitBatcher(EventBacklog backlog, Effects effects) {
    this.backlog = backlog;
    this.effects = effects;
  }

  /**
   * Adds the changes of an entry; ignored if it changed no key.
   *
   * @param eventBytes approximate memory of its events; ignored if they are not listed
   */
  public void add(Commit commit, long eventBytes) {
    if (!commit.isEmpty()) {
      commits.add(commit);
      pendingBytes += COMMIT_BYTES + (commit.events().isEmpty() ? 0 : eventBytes);
    }
  }

  /** Approximate memory of the changes that are not published yet. */
  public long pendingBytes() {
    return pendingBytes;
  }

  /** Publishes the added changes. They are already visible to readers. */
  public void publish() {
    if (commits.isEmpty()) {
      return;
    }
    EventBacklog.Lot memory = backlog.tryTake(pendingBytes);
    if (memory != null) {
      effects.publish(List.copyOf(commits), memory);
      missed = null;
    } else {
      commits.forEach(this::miss);
      effects.missed(commits.size());
    }
    commits.clear();
    pendingBytes = 0;
  }

  /** Publishes a change of permissions, before the changes of keys that are published next. */
  public void rightsChanged() {
    effects.publishRightsChanged();
    // The hub must learn of it before any later revision.
    missed = null;
  }

  private void miss(Commit commit) {
    MissedRevisions last = missed;
    if (last == null || !last.add(commit.revision(), commit.keys())) {
      MissedRevisions next = new MissedRevisions(commit.revision(), commit.keys());
      missed = next;
      effects.publishMissed(next);
    }
  }
}
