package io.troupe.etcd.bolt;

import io.troupe.model.Bytes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes a database file from the beginning to the end, as a stream. The size of the records must
 * be known before, but not their order of sizes: the root is at the end of the file, where it fits
 * in any case, and the pages before it that remain are free. bbolt finds free pages by itself.
 *
 * <p>Memory: one node of each level of a tree, and what was not read yet. Keys and values are not
 * copied; they must not change. One thread at a time.
 */
public final class BoltWriter {
  /** Larger than a page, so that less of the file is padding. */
  private static final int NODE_BYTES = 128 << 10;

  /** Free pages that are written at once. */
  private static final int GAP_PAGES = 16;

  private final SortedMap<Bytes, Long> roots = new TreeMap<>();
  private final Deque<Bytes> unread = new ArrayDeque<>();
  private final int nodeBytes;
  private final long rootPage;
  private long nextPage = BoltPages.FIRST_PAGE;
  private long unreadBytes;
  private @Nullable BoltTree bucket;
  private boolean finished;

  /**
   * Begins a file.
   *
   * @param buckets sizes of all buckets that the file will contain
   */
  public BoltWriter(Iterable<BoltSizes> buckets) {
    this(buckets, NODE_BYTES);
  }

  /** With nodes of another size, for tests of high trees. */
  BoltWriter(Iterable<BoltSizes> buckets, int nodeBytes) {
    this.nodeBytes = nodeBytes;
    long pages = BoltPages.FIRST_PAGE;
    for (BoltSizes sizes : buckets) {
      pages += sizes.mostPages(nodeBytes);
    }
    rootPage = pages;
    append(BoltPages.meta(0, rootPage, rootPage + 1));
    append(BoltPages.meta(1, rootPage, rootPage + 1));
  }

  /** Size of the whole file in bytes, a multiple of 4096. */
  public long fileBytes() {
    return (rootPage + 1) * BoltPages.PAGE_BYTES;
  }

  /** Begins a bucket, after the last one was finished. */
  public void beginBucket() {
    if (bucket != null) {
      throw new IllegalStateException("the last bucket is not finished");
    }
    bucket =
        new BoltTree(
            new BoltTree.PageSink() {
              @Override
              public long nextPage() {
                return nextPage;
              }

              @Override
              public void write(long pages, List<Bytes> parts) {
                nextPage += pages;
                parts.forEach(BoltWriter.this::append);
              }
            },
            nodeBytes);
  }

  /**
   * Adds a record to the bucket; keys ascend as unsigned bytes.
   *
   * @param value its parts, one after the other
   */
  public void put(Bytes key, List<Bytes> value) {
    current().put(key, value);
  }

  /** Finishes the bucket. */
  public void endBucket(String name) {
    roots.put(Bytes.utf8(name), current().finish());
    bucket = null;
    if (nextPage > rootPage) {
      throw new IllegalStateException("the buckets are larger than announced");
    }
  }

  /**
   * Writes a part of the end of the file, after the last bucket.
   *
   * @return true when the file is complete
   */
  public boolean finish() {
    if (bucket != null) {
      throw new IllegalStateException("the last bucket is not finished");
    }
    if (nextPage < rootPage) {
      long pages = Math.min(GAP_PAGES, rootPage - nextPage);
      nextPage += pages;
      for (int i = 0; i < pages; i++) {
        append(BoltPages.zeros(BoltPages.PAGE_BYTES));
      }
    } else if (!finished) {
      finished = true;
      writeRoot();
    }
    return finished;
  }

  private void writeRoot() {
    BoltTree tree =
        new BoltTree(
            new BoltTree.PageSink() {
              @Override
              public long nextPage() {
                return rootPage;
              }

              @Override
              public void write(long pages, List<Bytes> parts) {
                if (pages > 1) {
                  throw new IllegalStateException("too many buckets");
                }
                parts.forEach(BoltWriter.this::append);
              }
            },
            BoltPages.PAGE_BYTES);
    roots.forEach(tree::putBucket);
    tree.finish();
  }

  /** Number of written bytes that were not read yet. */
  public long unreadBytes() {
    return unreadBytes;
  }

  /**
   * Reads the next written bytes.
   *
   * @return at most {@code most} bytes; empty if all were read
   */
  public Bytes read(int most) {
    byte[] out = new byte[(int) Math.min(most, unreadBytes)];
    int at = 0;
    while (at < out.length) {
      Bytes first = unread.removeFirst();
      int length = Math.min(first.length(), out.length - at);
      at = first.slice(0, length).copyTo(out, at);
      if (length < first.length()) {
        unread.addFirst(first.slice(length));
      }
    }
    unreadBytes -= out.length;
    return Bytes.wrap(out);
  }

  private BoltTree current() {
    if (bucket == null) {
      throw new IllegalStateException("no bucket has begun");
    }
    return bucket;
  }

  private void append(Bytes part) {
    unreadBytes += part.length();
    unread.addLast(part);
  }
}
