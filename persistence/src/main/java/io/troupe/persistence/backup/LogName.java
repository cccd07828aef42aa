package io.troupe.persistence.backup;

import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Name of a log file in a target. Names sort by cluster, then by the number of their stream, then
 * by index.
 *
 * @param stream entries without a gap, which one leader began and the next ones continue
 * @param cluster cluster ID
 * @param first index of the first entry
 * @param last index of the last entry
 */
record LogName(String stream, long cluster, long first, long last) {
  private static final Pattern NAME =
      Pattern.compile(
          "(([0-9a-f]{16})-([0-9a-f]{8})-[0-9a-f]{16})\\.([0-9a-f]{16})-([0-9a-f]{16})\\.log");

  /**
   * The name of a new stream.
   *
   * @param number one above that of the newest stream of the cluster, which begins with 1
   * @param first index of its first entry; so two members never begin the same stream
   */
  static String stream(long cluster, int number, long first) {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(cluster) + "-" + hex.toHexDigits(number) + "-" + hex.toHexDigits(first);
  }

  /** Number of the stream. */
  int number() {
    return HexFormat.fromHexDigits(stream, 17, 25);
  }

  /** The name of a part. */
  static LogName of(String stream, LogPart part) {
    return new LogName(stream, part.cluster(), part.first(), part.last());
  }

  /** Null if it is not the name of a log file. */
  static @Nullable LogName parse(String file) {
    Matcher parts = NAME.matcher(file);
    if (!parts.matches()) {
      return null;
    }
    return new LogName(
        parts.group(1), hex(parts.group(2)), hex(parts.group(4)), hex(parts.group(5)));
  }

  private static long hex(String digits) {
    return HexFormat.fromHexDigitsToLong(digits);
  }

  /** The name of the file, without its folder. */
  String file() {
    HexFormat hex = HexFormat.of();
    return stream + "." + hex.toHexDigits(first) + "-" + hex.toHexDigits(last) + ".log";
  }
}
