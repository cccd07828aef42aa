package io.troupe.persistence.snapshot;

import io.troupe.model.Bytes;
import io.troupe.persistence.datadir.CheckedText;
import io.troupe.persistence.datadir.CheckedText.BadTextException;
import io.troupe.persistence.datadir.CheckedText.Field;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The manifest that makes a checkpoint directory a snapshot; see docs/formats/snapshot-manifest.md.
 *
 * @param index Raft index, 1 or more
 * @param term term of the entry at index
 * @param membership encoded membership
 * @param directory name of the content directory, next to the manifest
 * @param files the content, sorted by name; immutable
 */
public record SnapshotManifest(
    long index, long term, Bytes membership, String directory, List<FileSum> files) {
  /** Version of this format. */
  public static final int FORMAT_VERSION = 1;

  private static final String TITLE = "troupe-snapshot";

  /** Letters, digits and a few signs, no path: a manifest of a peer must not name files outside. */
  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]*");

  public SnapshotManifest {
    files = List.copyOf(files);
    requirePlain(directory);
  }

  /**
   * One file of the content.
   *
   * @param name without a path
   * @param size size in bytes, 0 or more
   * @param crc32c checksum over all bytes
   */
  public record FileSum(String name, long size, int crc32c) {
    public FileSum {
      requirePlain(name);
      if (size < 0) {
        throw new IllegalArgumentException("negative size " + size);
      }
    }

    /** True if that file has this size and checksum. Reads all of it. */
    public boolean fits(Path file) throws IOException {
      return Files.size(file) == size && ContentSums.crc32c(file) == crc32c;
    }
  }

  /** The bytes of the manifest file. */
  public byte[] encode() {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("index", Long.toString(index)));
    fields.add(new Field("term", Long.toString(term)));
    fields.add(new Field("membership", HexFormat.of().formatHex(membership.toArrayUnsafe())));
    fields.add(new Field("directory", directory));
    for (FileSum file : files) {
      fields.add(
          new Field(
              "file",
              HexFormat.of().toHexDigits(file.crc32c()) + " " + file.size() + " " + file.name()));
    }
    return CheckedText.encode(TITLE, FORMAT_VERSION, fields);
  }

  /**
   * Reads the result of {@link #encode}.
   *
   * @throws SnapshotException DAMAGED or WRONG_VERSION
   */
  public static SnapshotManifest decode(byte[] content) {
    try {
      List<Field> fields = CheckedText.decode(TITLE, FORMAT_VERSION, content);
      List<FileSum> files = new ArrayList<>();
      for (Field field : fields) {
        if (field.name().equals("file")) {
          files.add(file(field.value()));
        }
      }
      return new SnapshotManifest(
          Long.parseLong(value(fields, "index")),
          Long.parseLong(value(fields, "term")),
          Bytes.wrap(HexFormat.of().parseHex(value(fields, "membership"))),
          value(fields, "directory"),
          files);
    } catch (BadTextException e) {
      SnapshotException.Kind kind =
          e.otherVersion() ? SnapshotException.Kind.WRONG_VERSION : SnapshotException.Kind.DAMAGED;
      throw new SnapshotException(kind, "snapshot manifest: " + e.getMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new SnapshotException(
          SnapshotException.Kind.DAMAGED, "snapshot manifest: " + e.getMessage(), e);
    }
  }

  private static FileSum file(String text) {
    String[] parts = text.split(" ", 3);
    if (parts.length != 3) {
      throw new IllegalArgumentException("bad file line '" + text + "'");
    }
    return new FileSum(parts[2], Long.parseLong(parts[1]), HexFormat.fromHexDigits(parts[0]));
  }

  private static String value(List<Field> fields, String name) {
    for (Field field : fields) {
      if (field.name().equals(name)) {
        return field.value();
      }
    }
    throw new IllegalArgumentException("missing field " + name);
  }

  private static void requirePlain(String name) {
    if (!PLAIN_NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("bad file name '" + name + "'");
    }
  }
}
