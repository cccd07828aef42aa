package io.troupe.etcd.bolt;

import io.troupe.model.Bytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads a database file, written by bbolt or by {@link BoltWriter}. Checks what it reads: a damaged
 * file results in {@link DamagedDatabaseException}, never in wrong rows or a large allocation. One
 * thread.
 */
public final class BoltReader implements AutoCloseable {
  /** Page sizes that bbolt uses: those of operating systems. */
  private static final int LEAST_PAGE_BYTES = 1 << 10;

  private static final int MOST_PAGE_BYTES = 1 << 16;

  /** Longest node: one record that etcd accepts with its largest setting, and a page. */
  private static final long MOST_NODE_BYTES = 256L << 20;

  private final FileChannel channel;
  private final long fileBytes;
  private final Meta meta;
  private final SortedMap<String, BoltNode> buckets = new TreeMap<>();

  /**
   * The newest valid meta page.
   *
   * @param root page of the bucket of buckets
   * @param end number of pages in use
   */
  private record Meta(int pageBytes, long root, long end, long transaction) {}

  private BoltReader(FileChannel channel) throws IOException {
    this.channel = channel;
    this.fileBytes = channel.size();
    this.meta = newestMeta();
    BoltWalk top = new BoltWalk(this, page(meta.root()));
    while (top.next()) {
      if (top.isBucket()) {
        buckets.put(top.key().utf8(), root(top.value()));
      }
    }
  }

  /**
   * Opens a file.
   *
   * @throws DamagedDatabaseException if it is not a database file
   * @throws IOException if it cannot be read
   */
  public static BoltReader open(Path file) throws IOException {
    FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
    @Nullable BoltReader opened = null;
    try {
      opened = new BoltReader(channel);
      return opened;
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } finally {
      if (opened == null) {
        channel.close();
      }
    }
  }

  /** A walk over the rows of a bucket in the order of their keys; over nothing if it is missing. */
  public BoltWalk walk(String bucket) {
    return new BoltWalk(this, buckets.get(bucket));
  }

  /** Names of the buckets, in order. */
  public SortedSet<String> buckets() {
    return Collections.unmodifiableSortedSet(new TreeSet<>(buckets.keySet()));
  }

  /** Bytes of all pages in use, at most the size of the file. */
  public long databaseBytes() {
    return meta.end() * meta.pageBytes();
  }

  /** True if the file contains the bucket. */
  public boolean has(String bucket) {
    return buckets.containsKey(bucket);
  }

  private Meta newestMeta() {
    Meta first = meta(0);
    Meta second = null;
    if (first != null) {
      second = meta(first.pageBytes());
    } else {
      for (int size = LEAST_PAGE_BYTES; second == null && size <= MOST_PAGE_BYTES; size *= 2) {
        second = meta(size);
      }
    }
    if (first == null && second == null) {
      throw new DamagedDatabaseException("not a database file: no valid meta page");
    }
    if (first == null || (second != null && second.transaction() > first.transaction())) {
      return Objects.requireNonNull(second);
    }
    return first;
  }

  /** The meta page at a position, or null if there is none. */
  private @Nullable Meta meta(long position) {
    if (position + BoltPages.HEADER_BYTES + BoltPages.META_BYTES > fileBytes) {
      return null;
    }
    ByteBuffer in = read(position + BoltPages.HEADER_BYTES, BoltPages.META_BYTES);
    int pageBytes = in.getInt(8);
    boolean valid =
        in.getInt(0) == BoltPages.MAGIC
            && in.getInt(4) == BoltPages.VERSION
            && in.getLong(56) == BoltPages.fnv1a(in, 0, 56)
            && pageBytes >= LEAST_PAGE_BYTES
            && pageBytes <= MOST_PAGE_BYTES;
    return valid ? new Meta(pageBytes, in.getLong(16), in.getLong(40), in.getLong(48)) : null;
  }

  /** Reads the node that begins at a page. */
  BoltNode page(long id) {
    if (id < BoltPages.FIRST_PAGE || id >= meta.end()) {
      throw new DamagedDatabaseException("page " + id + " of " + meta.end() + " does not exist");
    }
    long position = id * meta.pageBytes();
    requireInFile(id, position + BoltPages.HEADER_BYTES);
    ByteBuffer header = read(position, BoltPages.HEADER_BYTES);
    long bytes = (1 + Integer.toUnsignedLong(header.getInt(12))) * meta.pageBytes();
    if (header.getLong(0) != id || bytes > MOST_NODE_BYTES) {
      throw new DamagedDatabaseException("page " + id + " has a wrong header");
    }
    requireInFile(id, position + bytes);
    return BoltNode.of("page " + id, read(position, (int) bytes));
  }

  private void requireInFile(long id, long end) {
    if (end > fileBytes) {
      throw new DamagedDatabaseException(
          "the file is incomplete: page " + id + " ends at " + end + " of " + fileBytes + " bytes");
    }
  }

  /** The root of a bucket; a small one is in its value. */
  private BoltNode root(Bytes bucket) {
    if (bucket.length() < BoltPages.BUCKET_BYTES) {
      throw new DamagedDatabaseException("a bucket of " + bucket.length() + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(bucket.toArray()).order(ByteOrder.LITTLE_ENDIAN);
    long page = in.getLong(0);
    if (page != 0) {
      return page(page);
    }
    in.position(BoltPages.BUCKET_BYTES);
    return BoltNode.of("a small bucket", in.slice().order(ByteOrder.LITTLE_ENDIAN));
  }

  private ByteBuffer read(long position, int bytes) {
    ByteBuffer in = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    try {
      while (in.hasRemaining()) {
        if (channel.read(in, position + in.position()) < 0) {
          throw new DamagedDatabaseException("the file became shorter while it was read");
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return in.flip();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
