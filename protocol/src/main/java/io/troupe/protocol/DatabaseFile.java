package io.troupe.protocol;

import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;

/**
 * The state at one moment as a database file of etcd, which is read from the beginning to the end
 * (MT8). No call takes long, and nothing waits for the reader between two calls. One thread at a
 * time; the owner closes it.
 *
 * <p>Methods throw {@link RefusedException} if the state was replaced since the file was opened.
 */
public interface DatabaseFile extends AutoCloseable {
  /** Revision of the state. */
  long revision();

  /** Versions in the state. */
  ClusterVersions versions();

  /**
   * Measures the next records, which is necessary before the file can be read.
   *
   * @param records maximum number of records, 1 or more
   * @return true when all are measured
   */
  boolean measure(int records);

  /** Size of the file in bytes, a multiple of 512. Known when all records are measured. */
  long bytes();

  /**
   * Memory that the largest record takes while the file is read, in bytes. Known when all records
   * are measured.
   */
  long mostBytesOfOne();

  /**
   * Reads the next bytes.
   *
   * @param most maximum number of bytes, 1 or more
   * @return fewer only at the end of the file
   */
  Bytes read(int most);

  @Override
  void close();
}
