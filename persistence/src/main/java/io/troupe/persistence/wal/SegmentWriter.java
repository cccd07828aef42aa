package io.troupe.persistence.wal;

import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import net.openhft.chronicle.core.OS;
import net.openhft.chronicle.core.io.BackgroundResourceReleaser;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.PrecreatedFiles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.BinaryWire;
import net.openhft.chronicle.wire.DocumentContext;
import net.openhft.chronicle.wire.Wires;
import org.jspecify.annotations.Nullable;

/**
 * The open segment: one Chronicle queue with one data file, and a separate channel on that file.
 *
 * <p>Chronicle writes through mapped memory, where a full disk faults the process instead of
 * throwing an exception. So each block is first written with zeros through the channel, before
 * Chronicle may use it: a full disk throws an exception there, and the mapped writes that follow
 * only change pages with allocated blocks.
 */
final class SegmentWriter {
  /** Space for Chronicle's own header after a record and at the start of the file. */
  private static final int SLACK = 4096;

  private static final int INDEX_COUNT = 8;
  private static final int INDEX_SPACING = 1 << 16;
  private static final long TIMEOUT_MS = 200;
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(64 << 10).asReadOnlyBuffer();

  private final SegmentName name;
  private final Path directory;
  private final WalSettings settings;
  private final FileChannel channel;
  private final long capacity;
  private @Nullable SingleChronicleQueue queue;
  private @Nullable ExcerptAppender appender;
  private long position;
  private long allocated;

  private SegmentWriter(
      SegmentName name, Path directory, WalSettings settings, FileChannel channel, long capacity) {
    this.name = name;
    this.capacity = capacity;
    this.directory = directory;
    this.settings = settings;
    this.channel = channel;
  }

  /**
   * Creates the segment and opens it. Durable only after the first record was forced with {@link
   * #forceCreation()}.
   *
   * @param recordBytes length of the record that did not fit into the previous segment; the new one
   *     accepts it whatever its length
   */
  static SegmentWriter create(Path wal, SegmentName name, WalSettings settings, int recordBytes)
      throws IOException {
    ChronicleQuiet.ensure();
    Path directory = wal.resolve(name.text());
    DurableFiles.createDirectory(directory);
    reserveTable(directory.resolve(SegmentName.TABLE_FILE));
    // Chronicle uses a file with this name when it creates its own; a file with the final name
    // would make it wait for another process to write the header.
    Path reserved =
        PrecreatedFiles.preCreatedFile(directory.resolve(SegmentName.DATA_FILE).toFile()).toPath();
    FileChannel channel =
        FileChannel.open(
            reserved,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    SegmentWriter writer =
        new SegmentWriter(
            name, directory, settings, channel, settings.segmentBytesFor(recordBytes));
    boolean opened = false;
    try {
      writer.reserve(SLACK);
      writer.open();
      opened = true;
    } finally {
      if (!opened) {
        writer.release();
      }
    }
    return writer;
  }

  /** Loads Chronicle's classes, the slow part of the first {@link #create}. */
  static void prepare() {
    ChronicleQuiet.ensure();
    for (Class<?> first : List.of(SingleChronicleQueue.class, BinaryWire.class, Wires.class)) {
      try {
        Class.forName(first.getName(), true, first.getClassLoader());
      } catch (ClassNotFoundException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void reserveTable(Path file) throws IOException {
    try (FileChannel table =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      writeZeros(table, 0, 2L * OS.SAFE_PAGE_SIZE);
    }
  }

  private void open() throws IOException {
    SingleChronicleQueue opened =
        SingleChronicleQueueBuilder.binary(directory.toFile())
            .rollCycle(RollCycles.FAST_DAILY)
            .timeProvider(() -> 0L)
            .blockSize((int) (capacity + (128 << 10)))
            .indexCount(INDEX_COUNT)
            .indexSpacing(INDEX_SPACING)
            .timeoutMS(TIMEOUT_MS)
            .build();
    queue = opened;
    ExcerptAppender made = opened.createAppender();
    // One thread opens the log, another one uses it.
    made.singleThreadedCheckDisabled(true);
    appender = made;
  }

  SegmentName name() {
    return name;
  }

  /** Bytes of the data file in use. */
  long position() {
    return position;
  }

  /** Bytes on disk. */
  long sizeOnDisk() {
    return allocated + 2L * OS.SAFE_PAGE_SIZE;
  }

  /** True if a record of {@code length} bytes fits into this segment. */
  boolean hasSpace(int length) {
    // Chronicle accepts no record longer than a quarter of its file, even if that is empty.
    return position + length + SLACK <= settings.segmentBytes() && 4L * length <= capacity;
  }

  /** Appends one record: the first {@code length} bytes of {@code record}. */
  void append(byte[] record, int length) throws IOException {
    ExcerptAppender to = appender;
    if (to == null) {
      throw new IOException("segment " + name.text() + " is closed");
    }
    reserve(position + length + SLACK);
    try (DocumentContext document = to.writingDocument()) {
      var wire = document.wire();
      if (wire == null) {
        throw new IOException("segment " + name.text() + " does not accept records");
      }
      wire.bytes().write(record, 0, length);
      position = wire.bytes().writePosition();
    }
  }

  /**
   * Forces the appended data. The length never changes within the allocated blocks, so forcing data
   * is enough.
   */
  void force() throws IOException {
    channel.force(false);
  }

  /** Forces the first record together with the creation of the file and the directory. */
  void forceCreation() throws IOException {
    channel.force(true);
    DurableFiles.forceDirectory(directory);
  }

  /** Closes the segment permanently: frees unused blocks and removes Chronicle's table. */
  long seal() throws IOException {
    release();
    try (FileChannel file =
        FileChannel.open(directory.resolve(SegmentName.DATA_FILE), StandardOpenOption.WRITE)) {
      file.truncate(position);
    }
    Files.deleteIfExists(directory.resolve(SegmentName.TABLE_FILE));
    return position;
  }

  /** Closes the files without changing them. */
  void release() throws IOException {
    appender = null;
    SingleChronicleQueue open = queue;
    queue = null;
    try {
      if (open != null) {
        open.close();
        BackgroundResourceReleaser.releasePendingResources();
      }
    } finally {
      channel.close();
    }
  }

  private void reserve(long upTo) throws IOException {
    while (allocated < upTo) {
      writeZeros(channel, allocated, settings.allocationBytes());
      allocated += settings.allocationBytes();
    }
  }

  private static void writeZeros(FileChannel channel, long from, long count) throws IOException {
    long at = from;
    while (at < from + count) {
      ByteBuffer zeros = ZEROS.duplicate();
      zeros.limit((int) Math.min(zeros.capacity(), from + count - at));
      while (zeros.hasRemaining()) {
        at += channel.write(zeros, at);
      }
    }
  }
}
