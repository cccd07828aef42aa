package io.troupe.actors.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.snapshot.SnapshotRef;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KnownSnapshotsTest {
  private final SnapshotDirectory directory;
  private final KnownSnapshots known;

  KnownSnapshotsTest(@TempDir Path temp) {
    this.directory = new SnapshotDirectory(temp.resolve("snapshots"));
    this.known = new KnownSnapshots(directory, temp.resolve("state"));
  }

  @Test
  void newestSnapshotUpToAppliedIndexIsFound() throws Exception {
    assertThat(known.newestIndex(8)).contains(0L);
    assertThat(known.latest()).isEmpty();
    save(5);
    save(9);
    assertThat(known.newestIndex(8)).contains(5L);
    assertThat(known.indexes()).contains(List.of(5L, 9L));
    assertThat(known.latest().map(SnapshotRef::index)).contains(9L);
  }

  @Test
  void failedReadIsEmpty() throws Exception {
    save(5);
    // A manifest that cannot be read, as on a disk with an unreadable block.
    Path unreadable =
        Files.createDirectory(directory.root().resolve("%016x-%016x.manifest".formatted(7, 1)));
    assertThatThrownBy(() -> directory.latest(9))
        .isInstanceOfSatisfying(
            SnapshotException.class,
            e -> assertThat(e.kind()).isEqualTo(SnapshotException.Kind.IO));
    assertThat(known.newestIndex(9)).isEmpty();
    assertThat(known.latest()).isEmpty();
    Files.delete(unreadable);
    assertThat(known.newestIndex(9)).contains(5L);
    assertThat(known.latest().map(SnapshotRef::index)).contains(5L);
  }

  private void save(long index) throws Exception {
    Path content = directory.prepare(index, 1);
    Files.createDirectories(content);
    Files.write(content.resolve("000001.sst"), new byte[] {1});
    directory.save(new SnapshotRef(index, 1, Bytes.EMPTY, content));
  }
}
