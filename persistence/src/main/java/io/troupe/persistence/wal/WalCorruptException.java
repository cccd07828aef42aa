package io.troupe.persistence.wal;

/**
 * The log lacks records that were once forced, or contains invalid ones. The member refuses to
 * start: restore it from its peers or from a backup. Nothing was changed on disk.
 */
public final class WalCorruptException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String segment;
  private final long position;

  public WalCorruptException(String segment, long position, String why) {
    super("log segment " + segment + " at byte " + position + ": " + why);
    this.segment = segment;
    this.position = position;
  }

  /** Directory name of the segment. */
  public String segment() {
    return segment;
  }

  /** Byte of the segment's data file where the damage starts. */
  public long position() {
    return position;
  }
}
