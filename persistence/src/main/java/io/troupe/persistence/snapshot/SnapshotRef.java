package io.troupe.persistence.snapshot;

import io.troupe.model.Bytes;
import java.nio.file.Path;

/**
 * One snapshot: its position and the location of its content. Pekko Persistence passes this value;
 * the content stays in files.
 *
 * @param index Raft index of the last entry that the content contains, 1 or more; the sequence
 *     number
 * @param term term of that entry
 * @param membership the membership at {@code index}, encoded
 * @param directory a checkpoint of the store, inside the snapshots directory
 */
public record SnapshotRef(long index, long term, Bytes membership, Path directory) {
  public SnapshotRef {
    if (index < 1 || term < 0) {
      throw new IllegalArgumentException("snapshot at index " + index + " of term " + term);
    }
  }
}
