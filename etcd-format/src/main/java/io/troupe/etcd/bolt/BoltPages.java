package io.troupe.etcd.bolt;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Pages of a database file. Numbers are little endian, as bbolt writes them on every machine that
 * etcd supports.
 *
 * <p>A page begins with its id (8 bytes), its kind (2), the number of its elements (2) and the
 * number of pages that directly continue it (4). Pages 0 and 1 are meta pages; the one with the
 * higher transaction counts.
 */
final class BoltPages {
  static final int PAGE_BYTES = 4096;
  static final int HEADER_BYTES = 16;

  /** Size of an element of a branch or leaf page without its key and value. */
  static final int ELEMENT_BYTES = 16;

  /** First page after the meta pages. */
  static final long FIRST_PAGE = 2;

  static final int BRANCH = 0x01;
  static final int LEAF = 0x02;
  private static final int META = 0x04;

  /** Mark of a leaf element whose value is a bucket. */
  static final int BUCKET_ELEMENT = 0x01;

  /** Size of a bucket as the value of a leaf element: its root page and a sequence. */
  static final int BUCKET_BYTES = 16;

  static final int MAGIC = 0xED0CDAED;
  static final int VERSION = 2;

  /** In place of the page of the list of free pages: readers find free pages by themselves. */
  private static final long NO_FREE_LIST = -1;

  /** Size of the content of a meta page. Its last 8 bytes are its checksum. */
  static final int META_BYTES = 64;

  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private BoltPages() {}

  /** Number of pages that {@code bytes} fill. */
  static long pages(long bytes) {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  }

  /** A buffer of at least {@code bytes}, rounded up to whole pages, zeroed. */
  static ByteBuffer buffer(long bytes) {
    return ByteBuffer.allocate(Math.toIntExact(pages(bytes) * PAGE_BYTES))
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Writes the header of a page that begins at the buffer's position. */
  static void header(ByteBuffer out, long id, int kind, int elements) {
    out.putLong(id)
        .putShort((short) kind)
        .putShort((short) elements)
        .putInt(out.capacity() / PAGE_BYTES - 1);
  }

  /**
   * One meta page.
   *
   * @param id 0 or 1, also its transaction
   * @param root page of the bucket of buckets
   * @param end number of pages of the file
   */
  static ByteBuffer meta(int id, long root, long end) {
    ByteBuffer out = buffer(PAGE_BYTES);
    header(out, id, META, 0);
    out.putInt(MAGIC)
        .putInt(VERSION)
        .putInt(PAGE_BYTES)
        .putInt(0)
        .putLong(root)
        .putLong(0)
        .putLong(NO_FREE_LIST)
        .putLong(end)
        .putLong(id);
    out.putLong(fnv1a(out, HEADER_BYTES, META_BYTES - Long.BYTES));
    return out;
  }

  /** FNV-1a with 64 bits. */
  static long fnv1a(ByteBuffer in, int from, int length) {
    long hash = FNV_OFFSET;
    for (int i = from; i < from + length; i++) {
      hash = (hash ^ (in.get(i) & 0xff)) * FNV_PRIME;
    }
    return hash;
  }
}
