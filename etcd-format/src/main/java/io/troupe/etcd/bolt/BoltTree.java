package io.troupe.etcd.bolt;

import io.troupe.model.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the tree of one bucket from its records in ascending order. A node is written when it is
 * full, so memory holds one node of each level. Nodes are larger than a page and continue over
 * several, which bbolt allows: so less of the file is padding. Keys and values are not copied.
 */
final class BoltTree {
  private final PageSink pages;
  private final int nodeBytes;
  private final List<Level> levels = new ArrayList<>();

  /** Receives pages. */
  interface PageSink {
    /** Id of the next page. */
    long nextPage();

    /**
     * Writes whole pages.
     *
     * @param pages number of pages that the parts fill together
     */
    void write(long pages, List<Bytes> parts);
  }

  /** Elements of the node that is not written yet. */
  private static final class Level {
    final int kind;
    final List<Element> elements = new ArrayList<>();
    long bytes;

    Level(int kind) {
      this.kind = kind;
    }
  }

  /**
   * One element of a node.
   *
   * @param flags of a leaf element
   * @param page child of a branch element
   */
  private record Element(int flags, Bytes key, List<Bytes> value, int valueBytes, long page) {
    static Element leaf(int flags, Bytes key, List<Bytes> value) {
      int bytes = 0;
      for (Bytes part : value) {
        bytes += part.length();
      }
      return new Element(flags, key, value, bytes, 0);
    }

    static Element branch(Bytes key, long page) {
      return new Element(0, key, List.of(), 0, page);
    }

    long size() {
      return (long) BoltPages.ELEMENT_BYTES + key.length() + valueBytes;
    }
  }

  /**
   * Begins a tree.
   *
   * @param nodeBytes a node is full when its elements reach this size
   */
  BoltTree(PageSink pages, int nodeBytes) {
    this.pages = pages;
    this.nodeBytes = nodeBytes;
    levels.add(new Level(BoltPages.LEAF));
  }

  /**
   * Adds a record.
   *
   * @param key stays as it is, like the value
   * @param value its parts, one after the other
   */
  void put(Bytes key, List<Bytes> value) {
    add(0, Element.leaf(0, key, value));
  }

  /** Adds a bucket with the tree that begins at {@code root}. */
  void putBucket(Bytes name, long root) {
    byte[] bucket = new byte[BoltPages.BUCKET_BYTES];
    ByteBuffer.wrap(bucket).order(ByteOrder.LITTLE_ENDIAN).putLong(root).putLong(0);
    add(0, Element.leaf(BoltPages.BUCKET_ELEMENT, name, List.of(Bytes.wrap(bucket))));
  }

  /** Writes the rest and returns the page of the root. */
  long finish() {
    for (int i = 0; ; i++) {
      Level level = levels.get(i);
      boolean top = i == levels.size() - 1;
      if (top && i > 0 && level.elements.size() == 1) {
        return level.elements.get(0).page();
      }
      if (top) {
        return write(level);
      }
      if (!level.elements.isEmpty()) {
        writeNode(i);
      }
    }
  }

  private void add(int at, Element element) {
    if (at == levels.size()) {
      levels.add(new Level(BoltPages.BRANCH));
    }
    Level level = levels.get(at);
    level.elements.add(element);
    level.bytes += element.size();
    if (level.bytes >= nodeBytes) {
      writeNode(at);
    }
  }

  private void writeNode(int at) {
    Level level = levels.get(at);
    Bytes first = level.elements.get(0).key();
    long page = write(level);
    add(at + 1, Element.branch(first, page));
  }

  private long write(Level level) {
    int table = BoltPages.HEADER_BYTES + BoltPages.ELEMENT_BYTES * level.elements.size();
    long bytes = BoltPages.HEADER_BYTES + level.bytes;
    long count = BoltPages.pages(bytes);
    long id = pages.nextPage();
    byte[] array = new byte[table];
    ByteBuffer out = ByteBuffer.wrap(array).order(ByteOrder.LITTLE_ENDIAN);
    BoltPages.header(out, id, level.kind, level.elements.size(), count);
    List<Bytes> parts = new ArrayList<>(2 + 2 * level.elements.size());
    parts.add(Bytes.wrap(array));
    long content = table;
    for (Element element : level.elements) {
      // Positions count from the element.
      int position = Math.toIntExact(content - out.position());
      if (level.kind == BoltPages.LEAF) {
        out.putInt(element.flags())
            .putInt(position)
            .putInt(element.key().length())
            .putInt(element.valueBytes());
      } else {
        out.putInt(position).putInt(element.key().length()).putLong(element.page());
      }
      parts.add(element.key());
      parts.addAll(element.value());
      content += element.key().length() + element.valueBytes();
    }
    parts.add(BoltPages.zeros((int) (count * BoltPages.PAGE_BYTES - bytes)));
    pages.write(count, parts);
    level.elements.clear();
    level.bytes = 0;
    return id;
  }
}
