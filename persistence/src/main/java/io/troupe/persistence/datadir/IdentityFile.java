package io.troupe.persistence.datadir;

import io.troupe.persistence.datadir.CheckedText.BadTextException;
import io.troupe.persistence.datadir.CheckedText.Field;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Content of the file {@code identity}: the owner of the directory, and the location of its log.
 *
 * @param member owner of the directory
 * @param walDir the log's own directory when the member was created, for operators: it may have
 *     moved since; null if the log is in the data directory
 */
record IdentityFile(MemberIdentity member, @Nullable String walDir) {
  private static final int WITH_LOG_APART = 2;
  private static final String WAL_DIR = "wal-dir";

  /** Version 2 if the log is in a directory of its own, so that older programs refuse it. */
  byte[] encode() {
    if (walDir == null) {
      return member.encode();
    }
    List<Field> fields = new ArrayList<>(member.fields());
    fields.add(new Field(WAL_DIR, URLEncoder.encode(walDir, StandardCharsets.UTF_8)));
    return CheckedText.encode(MemberIdentity.TITLE, WITH_LOG_APART, fields);
  }

  /**
   * Reads the result of {@link #encode()}.
   *
   * @throws BadTextException if it is damaged or of another version
   * @throws IllegalArgumentException if a field is missing or invalid
   */
  static IdentityFile decode(byte[] content) throws BadTextException {
    try {
      return new IdentityFile(MemberIdentity.decode(content), null);
    } catch (BadTextException e) {
      if (!e.otherVersion()) {
        throw e;
      }
    }
    List<Field> fields = CheckedText.decode(MemberIdentity.TITLE, WITH_LOG_APART, content);
    String walDir = MemberIdentity.value(fields, WAL_DIR);
    return new IdentityFile(
        MemberIdentity.of(fields), URLDecoder.decode(walDir, StandardCharsets.UTF_8));
  }
}
