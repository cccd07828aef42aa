package io.troupe.etcd.bolt;

import io.troupe.model.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the tree of one bucket from its records in ascending order. A node is written when it is
 * full, so memory holds one node of each level. Nodes are larger than a page and continue over
 * several, which bbolt allows: so less of the file is padding.
 */
final class BoltTree {
  private final PageSink pages;
  private final int nodeBytes;
  private final List<Level> levels = new ArrayList<>();

  /** Receives pages. */
  interface PageSink {
    /** Id of the next page. */
    long nextPage();

    /** Writes whole pages; takes ownership of the buffer. */
    void write(ByteBuffer pages);
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
  private record Element(int flags, Bytes key, Bytes value, long page) {
    int size() {
      return BoltPages.ELEMENT_BYTES + key.length() + value.length();
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

  /** Adds a record; copies key and value. */
  void put(Bytes key, Bytes value) {
    add(0, new Element(0, copy(key), copy(value), 0));
  }

  /** Adds a bucket with the tree that begins at {@code root}. */
  void putBucket(Bytes name, long root) {
    byte[] bucket = new byte[BoltPages.BUCKET_BYTES];
    ByteBuffer.wrap(bucket).order(ByteOrder.LITTLE_ENDIAN).putLong(root).putLong(0);
    add(0, new Element(BoltPages.BUCKET_ELEMENT, name, Bytes.wrap(bucket), 0));
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
    add(at + 1, new Element(0, first, Bytes.EMPTY, page));
  }

  private long write(Level level) {
    ByteBuffer out = BoltPages.buffer(BoltPages.HEADER_BYTES + level.bytes);
    long id = pages.nextPage();
    BoltPages.header(out, id, level.kind, level.elements.size());
    int content = BoltPages.HEADER_BYTES + BoltPages.ELEMENT_BYTES * level.elements.size();
    for (Element element : level.elements) {
      // Positions count from the element.
      int position = content - out.position();
      if (level.kind == BoltPages.LEAF) {
        out.putInt(element.flags())
            .putInt(position)
            .putInt(element.key().length())
            .putInt(element.value().length());
      } else {
        out.putInt(position).putInt(element.key().length()).putLong(element.page());
      }
      content = put(out, put(out, content, element.key()), element.value());
    }
    pages.write(out);
    level.elements.clear();
    level.bytes = 0;
    return id;
  }

  /** Returns the position after the bytes. */
  private static int put(ByteBuffer out, int at, Bytes bytes) {
    out.put(at, bytes.backingArray(), bytes.backingOffset(), bytes.length());
    return at + bytes.length();
  }

  private static Bytes copy(Bytes bytes) {
    return Bytes.wrap(bytes.toArray());
  }
}
