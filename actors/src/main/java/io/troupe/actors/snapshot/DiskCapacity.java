package io.troupe.actors.snapshot;

/** Free space of the disk that holds the member's data. Thread-safe. */
public interface DiskCapacity {
  /**
   * Returns true if the free space is so low that writes are refused. For each write: may be half a
   * second old.
   */
  boolean isLow();

  /**
   * Bytes that can be written until the disk is full, at the moment of the call. For work that
   * writes much at once: half a second is enough to fill a disk.
   */
  long freeBytes();

  /** Keeps space in reserve for a start on a full disk. May block; called once a second. */
  default void keepReserve() {}
}
