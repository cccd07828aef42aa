package io.troupe.persistence.snapshot;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ClassicActorSystemProvider;
import org.apache.pekko.pattern.Patterns;
import org.apache.pekko.persistence.DeleteSnapshotsFailure;
import org.apache.pekko.persistence.DeleteSnapshotsSuccess;
import org.apache.pekko.persistence.Persistence;
import org.apache.pekko.persistence.SaveSnapshotFailure;
import org.apache.pekko.persistence.SaveSnapshotSuccess;
import org.apache.pekko.persistence.SelectedSnapshot;
import org.apache.pekko.persistence.SnapshotMetadata;
import org.apache.pekko.persistence.SnapshotProtocol;
import org.apache.pekko.persistence.SnapshotSelectionCriteria;

/**
 * Saves, loads and deletes snapshots through Pekko Persistence. A typed actor calls it, gets a
 * stage, and pipes it to itself. One per actor system.
 *
 * <p>A failed stage carries a {@link SnapshotException}, or a timeout whose outcome is unknown.
 */
public final class SnapshotPlugin {
  /** Configuration path of the plugin; its defaults are in reference.conf. */
  public static final String ID = "troupe.persistence.snapshot-store";

  private final ActorRef store;
  private final SnapshotDirectory directory;
  private final String persistenceId;
  private final Duration timeout;
  private final SaveTimes times;

  /** The message to the store: Pekko passes it on unchanged. */
  record Save(SnapshotRef ref, SaveTimes times) {}

  private SnapshotPlugin(
      ActorRef store,
      SnapshotDirectory directory,
      String persistenceId,
      Duration timeout,
      SaveTimes times) {
    this.times = times;
    this.store = store;
    this.directory = directory;
    this.persistenceId = persistenceId;
    this.timeout = timeout;
  }

  /**
   * Removes leftovers, then starts the plugin. Blocks for the clean-up; call it before anything is
   * prepared.
   *
   * @param snapshots the snapshots directory of the data directory
   * @param persistenceId names the member in Pekko's messages
   * @param times receives the durations of each save
   * @throws SnapshotException if the directory cannot be used
   */
  public static SnapshotPlugin start(
      ClassicActorSystemProvider system, Path snapshots, String persistenceId, SaveTimes times) {
    SnapshotDirectory directory = new SnapshotDirectory(snapshots);
    directory.removeStrays();
    Config config =
        ConfigFactory.parseMap(Map.of(ID + ".directory", snapshots.toAbsolutePath().toString()));
    ActorRef store = Persistence.get(system).snapshotStoreFor(ID, config);
    Duration timeout =
        system
            .classicSystem()
            .settings()
            .config()
            .getDuration(ID + ".circuit-breaker.call-timeout");
    return new SnapshotPlugin(store, directory, persistenceId, timeout, times);
  }

  /**
   * The underlying files, for preparing, verifying, sending and restoring. All of its calls block;
   * saving and deleting must use this class.
   */
  public SnapshotDirectory directory() {
    return directory;
  }

  /**
   * Converts a prepared and filled directory to a snapshot and keeps the last two; durable when
   * complete.
   */
  public CompletionStage<Void> save(SnapshotRef ref) {
    SnapshotMetadata metadata = new SnapshotMetadata(persistenceId, ref.index(), 0);
    return ask(new SnapshotProtocol.SaveSnapshot(metadata, new Save(ref, times)))
        .thenAccept(
            reply -> {
              if (reply instanceof SaveSnapshotFailure failure) {
                throw new CompletionException(failure.cause());
              }
              expect(reply instanceof SaveSnapshotSuccess, reply);
            });
  }

  /** The newest snapshot that is not damaged. */
  public CompletionStage<Optional<SnapshotRef>> loadLatest() {
    return ask(new SnapshotProtocol.LoadSnapshot(
            persistenceId, SnapshotSelectionCriteria.latest(), Long.MAX_VALUE))
        .thenApply(
            reply -> {
              if (reply instanceof SnapshotProtocol.LoadSnapshotFailed failure) {
                throw new CompletionException(failure.cause());
              }
              if (reply instanceof SnapshotProtocol.LoadSnapshotResult result) {
                return result.snapshot().isEmpty()
                    ? Optional.empty()
                    : Optional.of(ref(result.snapshot().get()));
              }
              throw new IllegalStateException("unexpected reply " + reply);
            });
  }

  /** Removes every snapshot with an index below {@code index}. */
  public CompletionStage<Void> deleteBefore(long index) {
    return delete(0, index - 1);
  }

  /** Removes the snapshot at {@code index}. */
  public CompletionStage<Void> delete(long index) {
    return delete(index, index);
  }

  private CompletionStage<Void> delete(long from, long to) {
    SnapshotSelectionCriteria range = SnapshotSelectionCriteria.create(to, Long.MAX_VALUE, from, 0);
    return ask(new SnapshotProtocol.DeleteSnapshots(persistenceId, range))
        .thenAccept(
            reply -> {
              if (reply instanceof DeleteSnapshotsFailure failure) {
                throw new CompletionException(failure.cause());
              }
              expect(reply instanceof DeleteSnapshotsSuccess, reply);
            });
  }

  private CompletionStage<Object> ask(Object message) {
    return Patterns.ask(store, message, timeout);
  }

  private static SnapshotRef ref(SelectedSnapshot selected) {
    return (SnapshotRef) selected.snapshot();
  }

  private static void expect(boolean fits, Object reply) {
    if (!fits) {
      throw new IllegalStateException("unexpected reply " + reply);
    }
  }
}
