package io.troupe.actors.apply;

import io.troupe.machine.Applied;
import io.troupe.metrics.WatchMetrics;
import io.troupe.mvcc.RevisionChanges;
import io.troupe.protocol.WatchCommand;
import io.troupe.watch.Commit;
import io.troupe.watch.CommitBatcher;
import io.troupe.watch.EventBacklog;
import io.troupe.watch.MissedRevisions;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * Runs {@link CommitBatcher}: turns its effects into messages to the watch hub, and decides
 * nothing. Not thread-safe: owned by the apply actor.
 */
public final class CommitPublisher implements CommitBatcher.Effects {
  private final ActorRef<WatchCommand> hub;
  private final WatchMetrics metrics;
  private final CommitBatcher batcher;

  /**
   * A publisher for one hub.
   *
   * @param metrics counts the revisions that the hub missed
   */
  public CommitPublisher(ActorRef<WatchCommand> hub, EventBacklog backlog, WatchMetrics metrics) {
    this.hub = hub;
    this.metrics = metrics;
    this.batcher = new CommitBatcher(backlog, this);
  }

  /** As {@link CommitBatcher#add}. */
  public void add(Applied applied) {
    RevisionChanges changes = applied.changes();
    batcher.add(
        new Commit(applied.revision(), changes.events(), changes.unlisted()), changes.bytes());
  }

  /** As {@link CommitBatcher#publish}. */
  public void publish() {
    batcher.publish();
  }

  long pendingBytes() {
    return batcher.pendingBytes();
  }

  void rightsChanged() {
    batcher.rightsChanged();
  }

  // ---- effects

  @Override
  public void publish(List<Commit> commits, EventBacklog.Lot memory) {
    hub.tell(new WatchCommand.Committed(commits, memory));
  }

  @Override
  public void publishMissed(MissedRevisions revisions) {
    hub.tell(new WatchCommand.Missed(revisions));
  }

  @Override
  public void publishRightsChanged() {
    hub.tell(WatchCommand.RightsChanged.INSTANCE);
  }

  @Override
  public void missed(int revisions) {
    metrics.missed(revisions);
  }
}
