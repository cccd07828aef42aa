package io.troupe.persistence.snapshot;

import com.typesafe.config.Config;
import io.troupe.mvcc.StoreException;
import io.troupe.persistence.snapshot.SnapshotException.Kind;
import io.troupe.persistence.store.StoreFailure;
import io.troupe.persistence.store.TableFiles;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.pekko.dispatch.Futures;
import org.apache.pekko.persistence.SelectedSnapshot;
import org.apache.pekko.persistence.SnapshotMetadata;
import org.apache.pekko.persistence.SnapshotSelectionCriteria;
import org.apache.pekko.persistence.snapshot.japi.SnapshotStore;
import scala.concurrent.Future;

/**
 * Pekko Persistence's snapshot store for one member: the snapshot is a {@link SnapshotRef}, its
 * sequence number the Raft index. It only calls {@link SnapshotDirectory}, on the thread of its own
 * pinned dispatcher, so calls run one after the other and may block.
 *
 * <p>Created by Pekko from the plugin's configuration; see {@link SnapshotPlugin}.
 */
public final class CheckpointSnapshotStore extends SnapshotStore {
  private final SnapshotDirectory directory;

  /**
   * @param config the plugin's section; {@code directory} is the snapshots directory
   */
  public CheckpointSnapshotStore(Config config) {
    directory =
        new SnapshotDirectory(
            Path.of(config.getString("directory")), CheckpointSnapshotStore::checkTable);
  }

  /** The table file is shared with the state by a hard link, or was just copied from it. */
  private static void checkTable(Path table) {
    try {
      TableFiles.verify(table);
    } catch (StoreException e) {
      if (StoreFailure.of(e) != StoreFailure.CORRUPTION) {
        throw e;
      }
      throw new SnapshotException(
          Kind.DAMAGED, "table file of this member is damaged: " + e.getMessage(), e);
    }
  }

  @Override
  public Future<Optional<SelectedSnapshot>> doLoadAsync(
      String persistenceId, SnapshotSelectionCriteria criteria) {
    return result(
        () ->
            directory
                .latest(criteria.maxSequenceNr())
                .filter(ref -> ref.index() >= criteria.minSequenceNr())
                .map(
                    ref ->
                        SelectedSnapshot.create(
                            new SnapshotMetadata(persistenceId, ref.index(), 0), ref)));
  }

  @Override
  public Future<Void> doSaveAsync(SnapshotMetadata metadata, Object snapshot) {
    return done(
        () -> {
          if (!(snapshot instanceof SnapshotPlugin.Save save)
              || save.ref().index() != metadata.sequenceNr()) {
            throw new IllegalArgumentException("not a snapshot of " + metadata.sequenceNr());
          }
          directory.save(save.ref(), save.times());
        });
  }

  @Override
  public Future<Void> doDeleteAsync(SnapshotMetadata metadata) {
    return done(() -> directory.delete(metadata.sequenceNr(), metadata.sequenceNr()));
  }

  @Override
  public Future<Void> doDeleteAsync(String persistenceId, SnapshotSelectionCriteria criteria) {
    return done(() -> directory.delete(criteria.minSequenceNr(), criteria.maxSequenceNr()));
  }

  private static Future<Void> done(Runnable work) {
    return result(
        () -> {
          work.run();
          return none();
        });
  }

  /** Pekko's Java API requires a future of the type whose only value is null. */
  @SuppressWarnings("NullAway")
  private static Void none() {
    return null;
  }

  private static <T> Future<T> result(Supplier<T> work) {
    try {
      return Futures.successful(work.get());
    } catch (RuntimeException e) {
      return Futures.failed(e);
    }
  }
}
