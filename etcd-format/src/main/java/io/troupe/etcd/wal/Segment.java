package io.troupe.etcd.wal;

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
 * A file of the log.
 *
 * @param number position among the files, from 0 without gaps
 * @param firstIndex index of the first entry that it may contain
 */
record Segment(Path file, long number, long firstIndex) {
  private static final Pattern NAME = Pattern.compile("([0-9a-f]{16})-([0-9a-f]{16})\\.wal");

  /**
   * The files that contain the entries above an index, oldest first.
   *
   * @throws DamagedLogException if there are none, or if one is missing
   */
  static List<Segment> needed(Path directory, long after) throws IOException {
    List<Segment> all = list(directory);
    if (all.isEmpty()) {
      throw new DamagedLogException(directory + " has no file of a log (*.wal)");
    }
    int first = 0;
    for (int i = 1; i < all.size() && all.get(i).firstIndex() <= after; i++) {
      first = i;
    }
    for (int i = first + 1; i < all.size(); i++) {
      if (all.get(i).number() != all.get(i - 1).number() + 1) {
        throw new DamagedLogException(
            "the file between "
                + all.get(i - 1).file()
                + " and "
                + all.get(i).file().getFileName()
                + " is missing");
      }
    }
    return all.subList(first, all.size());
  }

  /** All files, oldest first; other names are skipped, as etcd does. */
  private static List<Segment> list(Path directory) throws IOException {
    List<Segment> segments = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (name.matches()) {
          segments.add(
              new Segment(
                  file,
                  Long.parseUnsignedLong(name.group(1), 16),
                  Long.parseUnsignedLong(name.group(2), 16)));
        }
      }
    }
    segments.sort(Comparator.comparingLong(Segment::number));
    return segments;
  }
}
