package io.troupe.persistence.snapshot;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Checks a table file with the checksums that the store wrote into it. The checksum in a manifest
 * is computed from the content on the disk: without this check, a file that was already damaged
 * would get a matching checksum.
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
