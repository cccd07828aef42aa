package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.wal.WalException.Kind;
import io.troupe.snapshot.LogExtent;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The log on Chronicle Queue: one queue directory per segment, a new segment at every start, older
 * ones only read. See docs/components/wal.md.
 */
public final class ChronicleWal implements Wal {
  private final Path directory;
  private final WalSettings settings;
  private final SecureRandom salts = new SecureRandom();
  private final ByteSink sink = new ByteSink();
  private final Deque<Sealed> sealed = new ArrayDeque<>();
  private final EntryOffsets places;
  private @Nullable SegmentWriter open;
  private long openMaxIndex;
  private long sealedBytes;

  /** Immutable copy of {@link #sealed}. */
  private List<LogExtent.Segment> parts = List.of();

  private HardState hardState;
  private long compactedIndex;
  private long firstSegment;
  private long lastIndex;
  private long sequence;

  /** Position of the last record, or slightly before it. */
  private long recordAt;

  private long forced;
  private @Nullable Throwable failure;
  private boolean closed;
  private volatile WalStatus status;

  private record Sealed(SegmentName name, long maxIndex, long bytes) {}

  private ChronicleWal(Path directory, WalSettings settings, WalReplay replay) {
    this.directory = directory;
    this.settings = settings;
    this.hardState = replay.hardState();
    this.compactedIndex = replay.compactedIndex();
    this.firstSegment = replay.firstSegment();
    this.lastIndex = replay.lastIndex();
    this.sequence = replay.lastSequence();
    this.forced = sequence;
    this.places = replay.places();
    this.status =
        new WalStatus(
            0,
            0,
            compactedIndex,
            lastIndex,
            sequence,
            forced,
            0,
            false,
            new LogExtent(List.of(), 0));
  }

  /**
   * Continues the log in {@code directory} (created if missing) in a new segment: truncates a torn
   * tail, removes obsolete segments, then writes and forces the new segment's first record.
   *
   * @param replay result of {@link WalReplay#read} for the same directory
   * @throws WalException DISK_FULL or IO
   */
  public static ChronicleWal open(Path directory, WalSettings settings, WalReplay replay) {
    ChronicleWal wal = new ChronicleWal(directory, settings, replay);
    boolean opened = false;
    try {
      wal.guarded(
          () -> {
            DurableFiles.createDirectory(directory);
            wal.adopt(replay);
            wal.openSegment(0);
          });
      opened = true;
    } finally {
      if (!opened) {
        wal.close();
      }
    }
    return wal;
  }

  /**
   * Loads Chronicle's classes in advance, while the start waits for something else. Logging must be
   * set up.
   */
  public static void prepare() {
    SegmentWriter.prepare();
  }

  @Override
  public void append(HardState state, List<Entry> entries) {
    checkFits(entries);
    guarded(
        () -> {
          int to = endOfRecord(entries, 0);
          if (to < entries.size() && !state.equals(hardState)) {
            // A batch of several records may be cut between them: the term must not lag behind the
            // entries, and the commit index must not be ahead of them.
            HardState early = new HardState(state.term(), state.vote(), hardState.commit());
            write(early, entries.subList(0, to));
          } else if (to > 0 || !state.equals(hardState)) {
            write(state, entries.subList(0, to));
          }
          for (int from = to; from < entries.size(); from = to) {
            to = endOfRecord(entries, from);
            write(to == entries.size() ? state : hardState, entries.subList(from, to));
          }
        });
  }

  @Override
  public void sync() {
    guarded(this::force);
  }

  @Override
  public void dropBefore(long index) {
    if (index < 1) {
      throw new IllegalArgumentException("index " + index);
    }
    guarded(
        () -> {
          long first = firstAfter(index - 1);
          if (first > firstSegment || index - 1 > lastIndex) {
            cover(Math.max(compactedIndex, index - 1), first, false);
          }
        });
  }

  @Override
  public void restartAfter(long index) {
    if (index < compactedIndex) {
      throw new IllegalArgumentException(
          "restart after " + index + " below compacted index " + compactedIndex);
    }
    guarded(() -> cover(index, writer().name().number(), true));
  }

  @Override
  public LogRead entries(long from, long until, long maxBytes) {
    return new LogRead(directory, places.find(from, until), maxBytes);
  }

  @Override
  public long sizeOnDisk() {
    return status.sizeOnDisk();
  }

  @Override
  public WalStatus status() {
    return status;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    SegmentWriter last = open;
    open = null;
    if (last == null) {
      return;
    }
    try {
      if (failure != null) {
        last.release();
        return;
      }
      open = last;
      write(new WalPayload.End());
      force();
      SegmentWriter current = writer();
      open = null;
      current.seal();
    } catch (IOException | RuntimeException | InternalError e) {
      throw broken(e);
    }
  }

  private void checkFits(List<Entry> entries) {
    if (entries.isEmpty()) {
      return;
    }
    long index = entries.get(0).index();
    if (index <= compactedIndex || index > lastIndex + 1) {
      throw new IllegalArgumentException(
          "entry "
              + index
              + " cannot follow "
              + lastIndex
              + " above compacted index "
              + compactedIndex);
    }
    for (Entry entry : entries) {
      if (entry.index() != index++) {
        throw new IllegalArgumentException("entries are not contiguous at " + entry.index());
      }
      if (entry.data().length() > WalSettings.MAX_ENTRY_BYTES) {
        throw new IllegalArgumentException(
            "entry " + entry.index() + " has " + entry.data().length() + " bytes");
      }
    }
  }

  /** Number of entries that one record may contain; at least one if there is any. */
  private int endOfRecord(List<Entry> entries, int from) {
    long bytes = 64;
    int to = from;
    while (to < entries.size()) {
      bytes += entries.get(to).data().length() + 24;
      if (to > from && bytes > settings.maxRecordBytes()) {
        break;
      }
      to++;
    }
    return to;
  }

  private void write(HardState state, List<Entry> entries) throws IOException {
    write(new WalPayload.Batch(state.equals(hardState) ? null : state, entries));
    hardState = state;
    if (!entries.isEmpty()) {
      places.wrote(entries, writer().name(), recordAt);
      lastIndex = entries.get(entries.size() - 1).index();
      openMaxIndex = Math.max(openMaxIndex, lastIndex);
    }
  }

  private void write(WalPayload payload) throws IOException {
    encode(payload);
    if (!writer().hasSpace(sink.size())) {
      roll(sink.size());
      encode(payload);
    }
    sequence++;
    recordAt = writer().position();
    writer().append(sink.array(), sink.size());
    // The memory of a long record is not kept for the next one.
    sink.reset();
  }

  private void encode(WalPayload payload) {
    sink.reset();
    sink.skip(WalRecord.HEADER_BYTES);
    payload.encode(sink);
    WalRecord.seal(sink, payload.type(), sequence + 1, forced, writer().name().salt());
  }

  private void force() throws IOException {
    if (forced < sequence) {
      writer().force();
      forced = sequence;
    }
  }

  private void roll(int recordBytes) throws IOException {
    force();
    SegmentWriter full = writer();
    open = null;
    keep(new Sealed(full.name(), openMaxIndex, full.seal()));
    openSegment(recordBytes);
  }

  private void openSegment(int recordBytes) throws IOException {
    long number = sealed.isEmpty() ? firstSegment : sealed.getLast().name().number() + 1;
    SegmentWriter writer =
        SegmentWriter.create(
            directory, new SegmentName(number, salts.nextLong()), settings, recordBytes);
    open = writer;
    openMaxIndex = 0;
    encode(new WalPayload.SegmentStart(number, firstSegment, compactedIndex, lastIndex, hardState));
    sequence++;
    writer.append(sink.array(), sink.size());
    writer.forceCreation();
    forced = sequence;
  }

  /** Number of the oldest segment that contains an entry above {@code covered}, or is open. */
  private long firstAfter(long covered) {
    for (Sealed segment : sealed) {
      if (segment.maxIndex() > covered) {
        return segment.name().number();
      }
    }
    return writer().name().number();
  }

  private void cover(long newCompactedIndex, long first, boolean restart) throws IOException {
    write(new WalPayload.Compacted(newCompactedIndex, first, restart));
    force();
    compactedIndex = newCompactedIndex;
    firstSegment = first;
    places.dropSegmentsBelow(first);
    if (restart || lastIndex < compactedIndex) {
      places.restartAfter(compactedIndex);
      lastIndex = compactedIndex;
      openMaxIndex = 0;
    }
    boolean removed = false;
    while (!sealed.isEmpty() && sealed.getFirst().name().number() < first) {
      Sealed gone = sealed.removeFirst();
      sealedBytes -= gone.bytes();
      parts = List.copyOf(parts.subList(1, parts.size()));
      DurableFiles.deleteTree(directory.resolve(gone.name().text()));
      removed = true;
    }
    if (removed) {
      DurableFiles.forceDirectory(directory);
    }
  }

  private void adopt(WalReplay replay) throws IOException {
    for (SegmentName name : SegmentName.list(directory)) {
      WalReplay.Segment segment = find(replay, name);
      Path path = directory.resolve(name.text());
      if (segment == null || name.number() < firstSegment) {
        // Covered by a snapshot and partly deleted, or without a valid record.
        DurableFiles.deleteTree(path);
        continue;
      }
      Path data = path.resolve(SegmentName.DATA_FILE);
      if (Files.size(data) > segment.usedBytes()) {
        try (FileChannel channel = FileChannel.open(data, StandardOpenOption.WRITE)) {
          channel.truncate(segment.usedBytes());
          channel.force(true);
        }
      }
      // A lock of a killed process that had our process id would block the queue permanently.
      Files.deleteIfExists(path.resolve(SegmentName.TABLE_FILE));
      keep(new Sealed(name, segment.maxIndex(), segment.usedBytes()));
    }
    DurableFiles.forceDirectory(directory);
  }

  private void keep(Sealed segment) {
    sealed.add(segment);
    sealedBytes += segment.bytes();
    List<LogExtent.Segment> all = new ArrayList<>(parts);
    all.add(new LogExtent.Segment(segment.maxIndex(), segment.bytes()));
    parts = List.copyOf(all);
  }

  private static WalReplay.@Nullable Segment find(WalReplay replay, SegmentName name) {
    for (WalReplay.Segment segment : replay.segments()) {
      if (segment.directory().equals(name.text())) {
        return segment;
      }
    }
    return null;
  }

  private SegmentWriter writer() {
    SegmentWriter writer = open;
    if (writer == null) {
      throw new IllegalStateException("no open segment");
    }
    return writer;
  }

  private interface DiskWork {
    void run() throws IOException;
  }

  private void guarded(DiskWork work) {
    if (closed) {
      throw new WalException(Kind.CLOSED, "WAL is closed", null);
    }
    if (failure != null) {
      throw new WalException(Kind.BROKEN, "WAL failed earlier: " + failure, failure);
    }
    try {
      work.run();
    } catch (IOException | RuntimeException | InternalError e) {
      throw broken(e);
    }
    publish(false);
  }

  private WalException broken(Throwable e) {
    failure = e;
    publish(true);
    boolean full = DurableFiles.isDiskFull(e);
    String what = full ? "disk of the WAL is full: " : "cannot write WAL: ";
    return new WalException(full ? Kind.DISK_FULL : Kind.IO, what + e, e);
  }

  private void publish(boolean broken) {
    long size = sealedBytes;
    SegmentWriter writer = open;
    long number = writer == null ? 0 : writer.name().number();
    long openBytes = writer == null ? 0 : writer.sizeOnDisk();
    size += openBytes;
    int segments = sealed.size() + (writer == null ? 0 : 1);
    status =
        new WalStatus(
            segments,
            number,
            compactedIndex,
            lastIndex,
            sequence,
            forced,
            size,
            broken,
            new LogExtent(parts, openBytes));
  }
}
