package io.troupe.persistence.snapshot;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Checks a table file by the checksums that the store wrote into it. A manifest's checksum is made
 * of what is on the disk: without this check, damage from before would get a checksum that fits.
 */
@FunctionalInterface
public interface TableCheck {
  /** Checks nothing. */
  TableCheck NONE = file -> {};

  /**
   * Reads the whole file.
   *
   * @throws SnapshotException DAMAGED, naming the file
   * @throws IOException if the disk fails
   */
  void check(Path file) throws IOException;
}
