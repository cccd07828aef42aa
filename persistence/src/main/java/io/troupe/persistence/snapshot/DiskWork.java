package io.troupe.persistence.snapshot;

import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.snapshot.SnapshotException.Kind;
import java.io.IOException;

/** A step on the disk whose failure becomes a {@link SnapshotException}. */
interface DiskWork<T> {
  T run() throws IOException;

  /**
   * Runs a step.
   *
   * @param what completes "cannot ..." in the text of the failure
   * @throws SnapshotException DISK_FULL or IO
   */
  static <T> T attempt(String what, DiskWork<T> work) {
    try {
      return work.run();
    } catch (IOException e) {
      Kind kind = DurableFiles.isDiskFull(e) ? Kind.DISK_FULL : Kind.IO;
      throw new SnapshotException(kind, "cannot " + what + ": " + e, e);
    }
  }
}
