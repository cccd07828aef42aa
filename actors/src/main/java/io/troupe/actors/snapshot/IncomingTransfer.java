package io.troupe.actors.snapshot;

import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.ReceivedFiles;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.snapshot.SnapshotManifest;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import io.troupe.protocol.SnapshotMessage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot that is being received, file by file in the order of the manifest, without the files
 * that are already here. Each chunk is checked by its checksum, each file by the manifest's. Each
 * complete file is forced to disk.
 */
final class IncomingTransfer implements AutoCloseable {
  /** Sender and number of the transfer; {@code term} is the sender's. */
  record Source(NodeId from, long id, long term) {}

  private final SnapshotManifest manifest;
  private final ReceivedFiles files;
  private final LongConsumer forced;
  private final CRC32C crc = new CRC32C();
  private Source source;
  private int file;
  private long offset;
  private @Nullable FileChannel open;

  /**
   * Starts with the first file that is missing.
   *
   * @param files of this manifest
   * @param forced receives the nanoseconds of the forced write of each file
   */
  IncomingTransfer(
      SnapshotManifest manifest, ReceivedFiles files, Source source, LongConsumer forced)
      throws IOException {
    this.manifest = manifest;
    this.files = files;
    this.source = source;
    this.forced = forced;
    stepOver();
  }

  SnapshotManifest manifest() {
    return manifest;
  }

  NodeId from() {
    return source.from();
  }

  long id() {
    return source.id();
  }

  long term() {
    return source.term();
  }

  /** The same content is offered again, possibly by the next leader. */
  void continueWith(NodeId sender, long transfer, long leaderTerm) {
    source = new Source(sender, transfer, leaderTerm);
  }

  boolean isComplete() {
    return file == manifest.files().size();
  }

  SnapshotMessage.Have have() {
    return new SnapshotMessage.Have(source.id(), file, offset);
  }

  /**
   * Stores a chunk if it is the next one, and ignores it otherwise.
   *
   * @throws SnapshotException DAMAGED if a file does not match the manifest
   */
  void take(SnapshotMessage.Chunk chunk) throws IOException {
    if (isComplete() || chunk.file() != file || chunk.offset() != offset) {
      return;
    }
    FileSum expected = manifest.files().get(file);
    int length = chunk.data().length();
    CRC32C ofChunk = new CRC32C();
    ByteBuffer data =
        ByteBuffer.wrap(chunk.data().backingArray(), chunk.data().backingOffset(), length);
    ofChunk.update(data.duplicate());
    if ((int) ofChunk.getValue() != chunk.crc32c() || length > expected.size() - offset) {
      // Treated as lost: the sender repeats it.
      return;
    }
    FileChannel channel = open;
    if (channel == null) {
      channel = create();
      open = channel;
    }
    crc.update(data.duplicate());
    while (data.hasRemaining()) {
      channel.write(data);
    }
    offset += length;
    if (offset == expected.size()) {
      finish(expected, channel);
      stepOver();
    }
  }

  private FileChannel create() throws IOException {
    crc.reset();
    return FileChannel.open(
        files.part(),
        StandardOpenOption.CREATE,
        StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE);
  }

  private void finish(FileSum expected, FileChannel channel) throws IOException {
    if ((int) crc.getValue() != expected.crc32c()) {
      throw new SnapshotException(
          SnapshotException.Kind.DAMAGED,
          expected.name() + " was received with a checksum that differs from its manifest");
    }
    long start = System.nanoTime();
    channel.force(true);
    forced.accept(System.nanoTime() - start);
    channel.close();
    open = null;
    files.keep(expected.name());
    file++;
    offset = 0;
  }

  /** Empty files have no chunks, and files that are here are not sent again. */
  private void stepOver() throws IOException {
    while (!isComplete()) {
      FileSum next = manifest.files().get(file);
      if (files.has(next.name())) {
        file++;
      } else if (next.size() == 0) {
        finish(next, create());
      } else {
        return;
      }
    }
  }

  @Override
  public void close() throws IOException {
    FileChannel channel = open;
    open = null;
    if (channel != null) {
      channel.close();
    }
  }
}
