package io.troupe.persistence.wal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Name of a segment's directory: its number and its salt, both in 16 hex digits.
 *
 * @param number 1 or more, increasing by one
 * @param salt random; part of every checksum in the segment, so that bytes of a client can never
 *     look like a record
 */
record SegmentName(long number, long salt) {
  /**
   * Name of the only data file in a segment's directory, given by Chronicle's roll cycle at time 0.
   */
  static final String DATA_FILE = "19700101F.cq4";

  /** Name of Chronicle's table file: locks and listings, useless after the segment is closed. */
  static final String TABLE_FILE = "metadata.cq4t";

  private static final Pattern FORM = Pattern.compile("([0-9a-f]{16})-([0-9a-f]{16})");

  /** The directory's name. */
  String text() {
    return String.format("%016x-%016x", number, salt);
  }

  /** The segment's data file in the log directory {@code wal}. */
  Path dataFile(Path wal) {
    return wal.resolve(text()).resolve(DATA_FILE);
  }

  /**
   * Returns the segments in {@code wal}, oldest first. Other names are ignored.
   *
   * @throws WalCorruptException if two have the same number
   */
  static List<SegmentName> list(Path wal) throws IOException {
    if (!Files.isDirectory(wal)) {
      return List.of();
    }
    List<SegmentName> found = new ArrayList<>();
    try (Stream<Path> paths = Files.list(wal)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        Matcher matcher = FORM.matcher(String.valueOf(path.getFileName()));
        if (matcher.matches()) {
          found.add(
              new SegmentName(
                  Long.parseUnsignedLong(matcher.group(1), 16),
                  Long.parseUnsignedLong(matcher.group(2), 16)));
        }
      }
    }
    found.sort(Comparator.comparingLong(SegmentName::number));
    for (int i = 1; i < found.size(); i++) {
      if (found.get(i).number() == found.get(i - 1).number()) {
        throw new WalCorruptException(found.get(i).text(), 0, "two segments have this number");
      }
    }
    return found;
  }
}
