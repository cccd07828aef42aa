package io.troupe.actors.snapshot;

import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.snapshot.SnapshotManifest;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import io.troupe.protocol.SnapshotMessage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot that is coming in, file by file in the manifest's order. Each chunk is checked by its
 * checksum, each file by the manifest's, and forced when it is whole.
 */
final class IncomingTransfer implements AutoCloseable {
  /** Which of whose transfers; {@code term} is the sender's. */
  record Source(NodeId from, long id, long term) {}

  private final SnapshotManifest manifest;
  private final Path directory;
  private final LongConsumer forced;
  private final CRC32C crc = new CRC32C();
  private Source source;
  private int file;
  private long offset;
  private @Nullable FileChannel open;

  /**
   * Begins.
   *
   * @param directory empty
   * @param forced told how many nanoseconds the forced write of each file took
   */
  IncomingTransfer(SnapshotManifest manifest, Path directory, Source source, LongConsumer forced)
      throws IOException {
    this.manifest = manifest;
    this.directory = directory;
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

  /** The same content is offered again, perhaps by the next leader. */
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
   * Stores a chunk if it is the next one.
   *
   * @throws SnapshotException DAMAGED if a file does not fit the manifest
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
      // As good as lost: it will be sent again.
      return;
    }
    FileChannel channel = open;
    if (channel == null) {
      channel = create(expected);
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

  private FileChannel create(FileSum expected) throws IOException {
    crc.reset();
    return FileChannel.open(
        directory.resolve(expected.name()),
        StandardOpenOption.CREATE_NEW,
        StandardOpenOption.WRITE);
  }

  private void finish(FileSum expected, FileChannel channel) throws IOException {
    if ((int) crc.getValue() != expected.crc32c()) {
      throw new SnapshotException(
          SnapshotException.Kind.DAMAGED,
          expected.name() + " came in with another checksum than its manifest says");
    }
    long start = System.nanoTime();
    channel.force(true);
    forced.accept(System.nanoTime() - start);
    channel.close();
    open = null;
    file++;
    offset = 0;
  }

  /** Empty files have no chunks. */
  private void stepOver() throws IOException {
    while (!isComplete() && manifest.files().get(file).size() == 0) {
      FileSum empty = manifest.files().get(file);
      finish(empty, create(empty));
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
