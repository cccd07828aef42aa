package io.troupe.persistence.datadir;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The format of the small text files of a data directory: a title line with the format version, one
 * {@code name value} line per field, and a last line {@code check <crc32c>} over every byte before
 * it. Lines end with a line feed; the encoding is UTF-8.
 */
public final class CheckedText {
  private static final String CHECK = "check ";

  private CheckedText() {}

  /** One line: {@code name} without blanks, {@code value} without line feeds. */
  public record Field(String name, String value) {
    public Field {
      if (name.isEmpty() || name.indexOf(' ') >= 0 || name.indexOf('\n') >= 0) {
        throw new IllegalArgumentException("bad field name '" + name + "'");
      }
      if (value.indexOf('\n') >= 0) {
        throw new IllegalArgumentException("line feed in field " + name);
      }
    }
  }

  /** Reason for which a text cannot be read. */
  public static final class BadTextException extends Exception {
    private static final long serialVersionUID = 1L;
    private final boolean otherVersion;

    BadTextException(String message, boolean otherVersion) {
      super(message);
      this.otherVersion = otherVersion;
    }

    /** True if the text is complete but has an unknown version. */
    public boolean otherVersion() {
      return otherVersion;
    }
  }

  /** The file's bytes: title, version, fields in order, check line. */
  public static byte[] encode(String title, int version, List<Field> fields) {
    StringBuilder text = new StringBuilder();
    text.append(title).append(' ').append(version).append('\n');
    for (Field field : fields) {
      text.append(field.name()).append(' ').append(field.value()).append('\n');
    }
    byte[] body = text.toString().getBytes(StandardCharsets.UTF_8);
    text.append(CHECK).append(HexFormat.of().toHexDigits(crc(body, body.length))).append('\n');
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns the fields of a file made by {@link #encode}, in order.
   *
   * @throws BadTextException if the check line or the title is wrong, or the version is unknown
   */
  public static List<Field> decode(String title, int version, byte[] content)
      throws BadTextException {
    int checkLength = CHECK.length() + 9;
    int bodyLength = content.length - checkLength;
    if (bodyLength <= 0) {
      throw new BadTextException("too short to be a " + title + " file", false);
    }
    String check = new String(content, bodyLength, checkLength, StandardCharsets.UTF_8);
    String wanted = CHECK + HexFormat.of().toHexDigits(crc(content, bodyLength)) + "\n";
    if (!check.equals(wanted)) {
      throw new BadTextException("checksum mismatch", false);
    }
    String body = new String(content, 0, bodyLength, StandardCharsets.UTF_8);
    List<String> lines = body.lines().toList();
    String first = lines.get(0);
    if (!first.startsWith(title + " ")) {
      throw new BadTextException("not a " + title + " file", false);
    }
    if (!first.equals(title + " " + version)) {
      throw new BadTextException(
          "format version " + first.substring(title.length() + 1) + ", known is " + version, true);
    }
    List<Field> fields = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      int blank = line.indexOf(' ');
      if (blank <= 0) {
        throw new BadTextException("line without a value: " + line, false);
      }
      fields.add(new Field(line.substring(0, blank), line.substring(blank + 1)));
    }
    return List.copyOf(fields);
  }

  private static int crc(byte[] content, int length) {
    CRC32C crc = new CRC32C();
    crc.update(content, 0, length);
    return (int) crc.getValue();
  }
}
