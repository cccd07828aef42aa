package io.troupe.actors.snapshot;

/**
 * Free space of the disk that holds the member's data. Thread-safe; values may be half a second
 * old.
 */
public interface DiskCapacity {
  /** Returns true if the free space is so low that writes are refused. */
  boolean isLow();

  /** Bytes that can be written until the disk is full. */
  long freeBytes();

  /** Keeps space in reserve for a start on a full disk. May block; called once a second. */
  default void keepReserve() {}
}
