package io.troupe.etcd.bolt;

import io.troupe.model.Bytes;
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

  private static final byte[] ZEROS = new byte[PAGE_BYTES];

  private BoltPages() {}

  /** Number of pages that {@code bytes} fill. */
  static long pages(long bytes) {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  }

  /**
   * Zeros.
   *
   * @param bytes at most one page
   */
  static Bytes zeros(int bytes) {
    return Bytes.wrap(ZEROS, 0, bytes);
  }

  /**
   * Writes the header of a page at the buffer's position.
   *
   * @param pages number of the page and those that continue it, 1 or more
   */
  static void header(ByteBuffer out, long id, int kind, int elements, long pages) {
    out.putLong(id)
        .putShort((short) kind)
        .putShort((short) elements)
        .putInt(Math.toIntExact(pages - 1));
  }

  /**
   * One meta page.
   *
   * @param id 0 or 1, also its transaction
   * @param root page of the bucket of buckets
   * @param end number of pages of the file
   */
  static Bytes meta(int id, long root, long end) {
    byte[] page = new byte[PAGE_BYTES];
    ByteBuffer out = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    header(out, id, META, 0, 1);
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
    return Bytes.wrap(page);
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
