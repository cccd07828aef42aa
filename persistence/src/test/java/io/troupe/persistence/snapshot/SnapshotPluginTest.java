package io.troupe.persistence.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.ConfigFactory;
import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.pattern.Patterns;
import org.apache.pekko.persistence.Persistence;
import org.apache.pekko.persistence.SelectedSnapshot;
import org.apache.pekko.persistence.SnapshotProtocol;
import org.apache.pekko.persistence.SnapshotSelectionCriteria;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots go through Pekko Persistence's own protocol and its plugin actor. */
class SnapshotPluginTest {
  private final Path temp;
  private final Path root;
  private final Queue<long[]> saves = new ConcurrentLinkedQueue<>();
  private final ActorTestKit kit = ActorTestKit.create("plugin");

  SnapshotPluginTest(@TempDir Path temp) {
    this.temp = temp;
    this.root = temp.resolve("snapshots");
  }

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private SnapshotPlugin start() {
    return SnapshotPlugin.start(
        kit.system(),
        root,
        "member-1",
        (summed, forced, total) -> saves.add(new long[] {summed, forced, total}));
  }

  @Test
  void savesLoadsAndDeletes() throws Exception {
    SnapshotPlugin plugin = start();
    assertThat(await(plugin.loadLatest())).isEmpty();
    try (RocksStore store =
        RocksStore.open(temp.resolve("state"), new RocksSettings(8 << 20, 4 << 20, 1, 64, 0))) {
      for (long index = 100; index <= 300; index += 100) {
        StoreBatch batch = new StoreBatch();
        batch.put(Space.META, Bytes.utf8("applied"), Bytes.utf8(String.valueOf(index)));
        store.write(batch);
        Path content = plugin.directory().prepare(index, 3);
        store.checkpoint(content);
        await(plugin.save(new SnapshotRef(index, 3, Bytes.of(1, 2), content)));
      }
    }
    assertThat(saves)
        .hasSize(3)
        .allSatisfy(
            times -> {
              assertThat(times[0]).as("summed").isPositive();
              assertThat(times[1]).as("forced").isPositive();
              assertThat(times[0] + times[1]).isEqualTo(times[2]);
            });
    SnapshotRef latest = await(plugin.loadLatest()).orElseThrow();
    assertThat(latest.index()).isEqualTo(300);
    assertThat(latest.term()).isEqualTo(3);
    assertThat(latest.membership()).isEqualTo(Bytes.of(1, 2));
    plugin.directory().verify(latest);
    assertThat(loadedByProtocol(250)).isEqualTo(200);
    assertThat(loadedByProtocol(150)).isZero();
    await(plugin.deleteBefore(300));
    assertThat(loadedByProtocol(299)).isZero();
    assertThat(await(plugin.loadLatest()).orElseThrow()).isEqualTo(latest);
  }

  @Test
  void failedSaveReportsReasonAndKeepsOtherSnapshots() throws Exception {
    SnapshotPlugin plugin = start();
    await(plugin.save(filled(plugin, 10)));
    SnapshotRef gone = filled(plugin, 20);
    Files.delete(gone.directory().resolve("CURRENT"));
    Files.delete(gone.directory());
    assertThatThrownBy(() -> await(plugin.save(gone)))
        .hasRootCauseInstanceOf(java.nio.file.NoSuchFileException.class)
        .cause()
        .isInstanceOf(SnapshotException.class);
    assertThat(saves).as("only the saved snapshot").hasSize(1);
    assertThat(await(plugin.loadLatest()).orElseThrow().index()).isEqualTo(10);
    // The plugin continues.
    await(plugin.save(filled(plugin, 30)));
    assertThat(await(plugin.loadLatest()).orElseThrow().index()).isEqualTo(30);
  }

  @Test
  void startRemovesLeftovers() throws Exception {
    Files.createDirectories(root.resolve("0000000000000009-0000000000000001"));
    Files.writeString(root.resolve("x.manifest.new"), "half");
    SnapshotPlugin plugin = start();
    assertThat(root).isEmptyDirectory();
    await(plugin.save(filled(plugin, 10)));
  }

  /** The index that Pekko's protocol loads at or below {@code to}, or 0. */
  private long loadedByProtocol(long to) throws Exception {
    ActorRef store =
        Persistence.get(kit.system()).snapshotStoreFor(SnapshotPlugin.ID, ConfigFactory.empty());
    Object reply =
        await(
            Patterns.ask(
                store,
                new SnapshotProtocol.LoadSnapshot(
                    "member-1", SnapshotSelectionCriteria.latest(), to),
                Duration.ofSeconds(20)));
    assertThat(reply).isInstanceOf(SnapshotProtocol.LoadSnapshotResult.class);
    SnapshotProtocol.LoadSnapshotResult result = (SnapshotProtocol.LoadSnapshotResult) reply;
    if (result.snapshot().isEmpty()) {
      return 0;
    }
    SelectedSnapshot selected = result.snapshot().get();
    assertThat(selected.metadata().sequenceNr())
        .isEqualTo(((SnapshotRef) selected.snapshot()).index());
    return selected.metadata().sequenceNr();
  }

  private static SnapshotRef filled(SnapshotPlugin plugin, long index) throws IOException {
    Path content = plugin.directory().prepare(index, 1);
    Files.createDirectory(content);
    Files.writeString(content.resolve("CURRENT"), "current " + index);
    return new SnapshotRef(index, 1, Bytes.EMPTY, content);
  }

  private static <T> T await(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
  }
}
