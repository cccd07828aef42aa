package io.troupe.actors.snapshot;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.SnapshotManifest;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import io.troupe.protocol.SnapshotMessage;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Sends a snapshot to one follower. It offers the snapshot, sends chunks from the position of the
 * receiver with a few in flight, and repeats the offer when no reply arrives. So a lost connection,
 * lost chunks and a restarted receiver are all handled in the same way. The caller supplies the
 * time.
 */
final class OutgoingTransfer implements AutoCloseable {
  private record Place(int file, long offset) {
    boolean reaches(Place other) {
      return file > other.file || (file == other.file && offset >= other.offset);
    }
  }

  private final NodeId to;
  private final long id;
  private final long term;
  private final SnapshotManifest manifest;
  private final Path content;
  private final TransferSettings settings;
  private final Consumer<SnapshotMessage> out;
  private final Deque<Place> inFlight = new ArrayDeque<>();
  private Place acknowledged = new Place(0, 0);
  private Place next = new Place(0, 0);
  private boolean offering = true;
  private long lastOffered;
  private long lastProgress;
  private @Nullable FileChannel open;
  private int openFile = -1;

  /** Checksum of the current file's bytes before {@link #summed}, if they were sent in order. */
  private final CRC32C fileCrc = new CRC32C();

  private Place summed = new Place(-1, 0);

  /**
   * A transfer; {@link #begin} sends the offer.
   *
   * @param content directory with the manifest's files; they do not change
   * @param out sends messages to the receiver
   */
  OutgoingTransfer(
      NodeId to,
      long id,
      long term,
      SnapshotManifest manifest,
      Path content,
      TransferSettings settings,
      Consumer<SnapshotMessage> out) {
    this.to = to;
    this.id = id;
    this.term = term;
    this.manifest = manifest;
    this.content = content;
    this.settings = settings;
    this.out = out;
  }

  NodeId to() {
    return to;
  }

  long id() {
    return id;
  }

  long index() {
    return manifest.index();
  }

  void begin(long nanos) {
    lastProgress = nanos;
    offer(nanos);
  }

  private void offer(long nanos) {
    offering = true;
    lastOffered = nanos;
    inFlight.clear();
    out.accept(new SnapshotMessage.Offer(id, term, Bytes.wrap(manifest.encode())));
  }

  /** The receiver reports its position. */
  void have(SnapshotMessage.Have have, RateLimit limit, long nanos) throws IOException {
    Place at = new Place(have.file(), have.offset());
    if (offering) {
      // Possibly less than before, because its process may have restarted.
      offering = false;
      lastProgress = nanos;
      acknowledged = at;
      next = at;
    } else if (at.reaches(acknowledged) && !at.equals(acknowledged)) {
      lastProgress = nanos;
      acknowledged = at;
      if (at.reaches(next)) {
        // The receiver has files of an earlier snapshot and skips them.
        next = at;
      }
      while (!inFlight.isEmpty() && at.reaches(inFlight.getFirst())) {
        inFlight.removeFirst();
      }
    }
    pump(limit, nanos);
  }

  /** Sends what window and rate allow. Repeats the offer if the receiver is unresponsive. */
  void pump(RateLimit limit, long nanos) throws IOException {
    boolean unresponsive =
        nanos - Math.max(lastProgress, lastOffered) >= settings.retry().toNanos();
    boolean waiting = offering || !inFlight.isEmpty() || next.file() >= manifest.files().size();
    if (unresponsive && waiting) {
      offer(nanos);
    }
    while (!offering && inFlight.size() < settings.window()) {
      if (next.file() >= manifest.files().size()) {
        return;
      }
      long left = manifest.files().get(next.file()).size() - next.offset();
      if (left <= 0) {
        // The receiver creates empty files and skips them by itself.
        next = new Place(next.file() + 1, 0);
        continue;
      }
      int length = (int) Math.min(settings.chunkBytes(), left);
      if (!limit.take(length, nanos)) {
        return;
      }
      send(length);
    }
  }

  private void send(int length) throws IOException {
    byte[] data = read(next.file(), next.offset(), length);
    checkFile(data);
    CRC32C crc = new CRC32C();
    crc.update(data);
    out.accept(
        new SnapshotMessage.Chunk(
            id, next.file(), next.offset(), Bytes.wrap(data), (int) crc.getValue()));
    next = new Place(next.file(), next.offset() + length);
    inFlight.addLast(next);
  }

  /**
   * Compares each file with the manifest before its last chunk is sent. The receiver of a damaged
   * file could not determine which disk is at fault.
   */
  private void checkFile(byte[] data) throws IOException {
    FileSum file = manifest.files().get(next.file());
    if (next.offset() == 0) {
      fileCrc.reset();
      summed = new Place(next.file(), 0);
    }
    if (summed.equals(next)) {
      fileCrc.update(data);
      summed = new Place(next.file(), next.offset() + data.length);
    }
    if (next.offset() + data.length < file.size()) {
      return;
    }
    boolean summedWhole = summed.equals(new Place(next.file(), file.size()));
    boolean fits =
        summedWhole
            ? (int) fileCrc.getValue() == file.crc32c()
            : file.fits(content.resolve(file.name()));
    if (!fits) {
      throw new DamagedFileException(file);
    }
  }

  private byte[] read(int file, long offset, int length) throws IOException {
    FileChannel channel = open;
    if (channel == null || openFile != file) {
      close();
      channel =
          FileChannel.open(
              content.resolve(manifest.files().get(file).name()), StandardOpenOption.READ);
      open = channel;
      openFile = file;
    }
    ByteBuffer buffer = ByteBuffer.allocate(length);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, offset + buffer.position()) < 0) {
        throw new EOFException(manifest.files().get(file).name() + " is shorter than its manifest");
      }
    }
    return buffer.array();
  }

  boolean isTimedOut(long nanos) {
    return nanos - lastProgress >= settings.giveUp().toNanos();
  }

  @Override
  public void close() throws IOException {
    FileChannel channel = open;
    open = null;
    openFile = -1;
    if (channel != null) {
      channel.close();
    }
  }
}
