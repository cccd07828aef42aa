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
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot that is coming in, file by file in the manifest's order. Each chunk is checked by its
 * checksum, each file by the manifest's, and forced when it is whole.
 */
final class IncomingTransfer implements AutoCloseable {
  private final SnapshotManifest manifest;
  private final Path directory;
  private final CRC32C crc = new CRC32C();
  private NodeId from;
  private long id;
  private long term;
  private int file;
  private long offset;
  private @Nullable FileChannel open;

  /**
   * Begins.
   *
   * @param directory empty
   */
  IncomingTransfer(SnapshotManifest manifest, Path directory, NodeId from, long id, long term)
      throws IOException {
    this.manifest = manifest;
    this.directory = directory;
    this.from = from;
    this.id = id;
    this.term = term;
    stepOver();
  }

  SnapshotManifest manifest() {
    return manifest;
  }

  NodeId from() {
    return from;
  }

  long id() {
    return id;
  }

  long term() {
    return term;
  }

  /** The same content is offered again, perhaps by the next leader. */
  void continueWith(NodeId sender, long transfer, long leaderTerm) {
    from = sender;
    id = transfer;
    term = leaderTerm;
  }

  boolean isComplete() {
    return file == manifest.files().size();
  }

  SnapshotMessage.Have have() {
    return new SnapshotMessage.Have(id, file, offset);
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
    channel.force(true);
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
