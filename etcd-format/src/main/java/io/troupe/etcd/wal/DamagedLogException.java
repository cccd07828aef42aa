package io.troupe.etcd.wal;

/** A log of etcd is damaged or incomplete. The message names the file and the position. */
public final class DamagedLogException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DamagedLogException(String message) {
    super(message);
  }
}
