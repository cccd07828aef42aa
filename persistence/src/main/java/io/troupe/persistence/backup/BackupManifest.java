package io.troupe.persistence.backup;

import io.troupe.persistence.datadir.CheckedText;
import io.troupe.persistence.datadir.CheckedText.BadTextException;
import io.troupe.persistence.datadir.CheckedText.Field;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The manifest that makes files a backup; see docs/formats/backup.md.
 *
 * @param time when the state was frozen, in milliseconds
 * @param cluster cluster ID
 * @param member ID of the member whose state it is
 * @param index last entry of the log that the state contains, 1 or more
 * @param term term of that entry
 * @param revision current revision of the state, 1 or more
 * @param files the state, sorted by name; immutable
 */
public record BackupManifest(
    Instant time,
    long cluster,
    long member,
    long index,
    long term,
    long revision,
    List<StoredFile> files) {
  /** Version of this format. */
  public static final int FORMAT_VERSION = 1;

  private static final String TITLE = "troupe-backup";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]*");
  private static final Pattern SHA_256 = Pattern.compile("[0-9a-f]{64}");
  private static final DateTimeFormatter TIME_IN_ID =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  /** Copies the list. */
  public BackupManifest {
    files = List.copyOf(files);
  }

  /**
   * One file of the state.
   *
   * @param name in the state, without a path
   * @param size in bytes, 0 or more
   * @param sha256 over all bytes, 64 hex digits; with the size it names the stored file
   */
  public record StoredFile(String name, long size, String sha256) {
    /** Checks name, size and checksum: a manifest must not name files elsewhere. */
    public StoredFile {
      if (!NAME.matcher(name).matches() || !SHA_256.matcher(sha256).matches() || size < 0) {
        throw new IllegalArgumentException("bad file '" + name + "' " + size + " " + sha256);
      }
    }

    /** Its name in the target. */
    String stored() {
      return Backups.FILES + "/" + sha256 + "-" + size;
    }
  }

  /** The name of the backup: time and index (hex), so names sort by age. */
  public String id() {
    return TIME_IN_ID.format(time) + "-" + Long.toHexString(index);
  }

  /** Size of all files in bytes. */
  public long bytes() {
    return files.stream().mapToLong(StoredFile::size).sum();
  }

  /** The bytes of the manifest file. */
  byte[] encode() {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("time", time.toString()));
    fields.add(new Field("cluster-id", Long.toHexString(cluster)));
    fields.add(new Field("member-id", Long.toHexString(member)));
    fields.add(new Field("index", Long.toString(index)));
    fields.add(new Field("term", Long.toString(term)));
    fields.add(new Field("revision", Long.toString(revision)));
    for (StoredFile file : files) {
      fields.add(new Field("file", file.sha256() + " " + file.size() + " " + file.name()));
    }
    return CheckedText.encode(TITLE, FORMAT_VERSION, fields);
  }

  /**
   * Reads the result of {@link #encode}.
   *
   * @param name for the message
   * @throws BackupException if it is damaged or of another version
   */
  static BackupManifest decode(String name, byte[] content) {
    try {
      List<Field> fields = CheckedText.decode(TITLE, FORMAT_VERSION, content);
      List<StoredFile> files = new ArrayList<>();
      for (Field field : fields) {
        if (field.name().equals("file")) {
          files.add(file(field.value()));
        }
      }
      return new BackupManifest(
          Instant.parse(value(fields, "time")),
          Long.parseUnsignedLong(value(fields, "cluster-id"), 16),
          Long.parseUnsignedLong(value(fields, "member-id"), 16),
          Long.parseLong(value(fields, "index")),
          Long.parseLong(value(fields, "term")),
          Long.parseLong(value(fields, "revision")),
          files);
    } catch (BadTextException | DateTimeParseException | IllegalArgumentException e) {
      throw new BackupException("manifest " + name + ": " + e.getMessage(), e);
    }
  }

  private static StoredFile file(String text) {
    String[] parts = text.split(" ", 3);
    if (parts.length != 3) {
      throw new IllegalArgumentException("bad file line '" + text + "'");
    }
    return new StoredFile(parts[2], Long.parseLong(parts[1]), parts[0]);
  }

  private static String value(List<Field> fields, String name) {
    return fields.stream()
        .filter(field -> field.name().equals(name))
        .map(Field::value)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("missing field " + name));
  }
}
