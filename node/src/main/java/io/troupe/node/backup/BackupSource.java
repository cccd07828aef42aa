package io.troupe.node.backup;

import io.troupe.mvcc.FrozenHistory;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.Backups;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Freezes the state of a member for a backup: a checkpoint, whose table files are hard links.
 *
 * @param place directory of the checkpoint, on the file system of the state; deleted after use
 * @param checkpoint writes a checkpoint to a directory that does not exist
 * @param fits false if the disk has too little space: a state that cannot write its memory stops
 *     the member
 * @param now time of a backup
 */
record BackupSource(
    Path place,
    Consumer<Path> checkpoint,
    BooleanSupplier fits,
    long cluster,
    long member,
    Supplier<Instant> now) {
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 1, 64, 0);

  /** Uses a checkpoint and where it comes from. */
  interface Use<T> {
    T of(Path content, Backups.Origin origin);
  }

  /**
   * Makes a checkpoint, and deletes it after its use.
   *
   * @throws BackupException if the disk has too little space for it
   * @throws io.troupe.mvcc.StoreException if it cannot be made
   * @throws UncheckedIOException if an old one cannot be deleted
   */
  <T> T use(Use<T> use) {
    discard();
    if (!fits.getAsBoolean()) {
      throw new BackupException(
          "too little disk space for a checkpoint of the state; free disk space");
    }
    try {
      checkpoint.accept(place);
      // Read afterwards: a restore to a moment must not contain what was applied later.
      Instant time = Instant.ofEpochMilli(now.get().toEpochMilli());
      return use.of(place, origin(time));
    } finally {
      discard();
    }
  }

  private Backups.Origin origin(Instant time) {
    try (RocksStore store = RocksStore.openReadOnly(place, SMALL)) {
      FrozenHistory at = FrozenHistory.of(store);
      return new Backups.Origin(
          time, cluster, member, at.appliedIndex(), at.appliedTerm(), at.revision());
    }
  }

  /**
   * Deletes the checkpoint, if there is one.
   *
   * @throws UncheckedIOException if it cannot be deleted
   */
  void discard() {
    try {
      DurableFiles.deleteTree(place);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + place, e);
    }
  }
}
