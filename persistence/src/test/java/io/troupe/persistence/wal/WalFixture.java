package io.troupe.persistence.wal;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Entries, directories and copies for the log's tests. */
final class WalFixture {
  static final WalSettings SMALL = new WalSettings(256 << 10, 64 << 10);

  private WalFixture() {}

  static HardState state(long term, long vote, long commit) {
    return new HardState(term, new NodeId(vote), commit);
  }

  /** Entries from..to (inclusive) of {@code term}, with content drawn from both. */
  static List<Entry> entries(long term, long from, long to, int maxBytes) {
    List<Entry> entries = new ArrayList<>();
    for (long index = from; index <= to; index++) {
      entries.add(entry(term, index, maxBytes));
    }
    return List.copyOf(entries);
  }

  static Entry entry(long term, long index, int maxBytes) {
    Random random = new Random(term * 1_000_003 + index);
    byte[] data = new byte[maxBytes == 0 ? 0 : random.nextInt(maxBytes)];
    random.nextBytes(data);
    Entry.Kind kind = Entry.Kind.ofCode(random.nextInt(3));
    return new Entry(term, index, kind, kind == Entry.Kind.NOOP ? Bytes.EMPTY : Bytes.wrap(data));
  }

  static ChronicleWal open(Path directory) {
    return ChronicleWal.open(directory, SMALL, WalReplay.read(directory, 0));
  }

  /** The log's files as a crash would leave them: taken while the log is open. */
  static void copy(Path from, Path to) throws IOException {
    DurableFiles.deleteTree(to);
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        Path target = to.resolve(from.relativize(path).toString());
        if (Files.isDirectory(path)) {
          Files.createDirectories(target);
        } else {
          Files.copy(path, target);
        }
      }
    }
  }

  static List<SegmentName> segments(Path directory) throws IOException {
    return SegmentName.list(directory);
  }

  /** Every complete record of a segment, in the order of the file. */
  static List<SegmentScanner.Found> records(Path directory, SegmentName name) throws IOException {
    List<SegmentScanner.Found> found = new ArrayList<>();
    try (SegmentScanner scanner = new SegmentScanner(name.dataFile(directory), name)) {
      for (var next = scanner.next(); next != null; next = scanner.next()) {
        found.add(next);
      }
    }
    return found;
  }
}
