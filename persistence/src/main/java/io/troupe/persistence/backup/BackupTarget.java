package io.troupe.persistence.backup;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * A place for backups. A name has parts that are separated by {@code /}; each part consists of
 * letters, digits and {@code . _ -}. Blocking; one writer at a time.
 */
public interface BackupTarget {
  /** Content that is written to a target. */
  interface Content {
    /** Opens it at its beginning; called once. */
    InputStream open() throws IOException;
  }

  /**
   * Names of the complete files in a folder, sorted.
   *
   * @return empty if the folder does not exist
   */
  List<String> list(String folder) throws IOException;

  /** True if a complete file has that name. */
  boolean has(String name) throws IOException;

  /**
   * Writes a file, durably. A crash leaves nothing of that name, or the whole file. Replaces a file
   * of that name.
   */
  void write(String name, Content content) throws IOException;

  /** Reads a file from its beginning. */
  InputStream read(String name) throws IOException;

  /** Deletes a file; does nothing if it does not exist. */
  void delete(String name) throws IOException;

  /** What operators call the place. */
  String text();
}
