package io.troupe.etcd.bolt;

/** A database file is damaged, incomplete or not one of bbolt. The message says where. */
public final class DamagedDatabaseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DamagedDatabaseException(String message) {
    super(message);
  }
}
