package io.troupe.actors.snapshot;

/** The disk that the member's data lies on. Thread-safe; answers may be half a second old. */
public interface DiskCapacity {
  /** True when there is so little left that writes are refused. */
  boolean isLow();

  /** Bytes that can still be written. */
  long freeBytes();

  /** Keeps space in reserve for a start on a full disk. May block; called once a second. */
  default void keepReserve() {}
}
