package io.troupe.etcd.bolt;

/**
 * Number and size of the records of one bucket, in any order, and how many pages they need at most.
 */
public final class BoltSizes {
  private long records;
  private long bytes;
  private int mostKeyBytes;

  /** Adds one record. */
  public void add(int keyBytes, long valueBytes) {
    add(1, keyBytes + valueBytes, keyBytes);
  }

  /**
   * Adds records.
   *
   * @param bytes of their keys and values
   * @param mostKeyBytes size of the longest key, or more
   */
  public void add(long records, long bytes, int mostKeyBytes) {
    this.records += records;
    this.bytes += bytes;
    this.mostKeyBytes = Math.max(this.mostKeyBytes, mostKeyBytes);
  }

  /**
   * Number of pages that suffice for the tree of the bucket, whatever the order of the sizes.
   *
   * @param nodeBytes as for {@link BoltTree}
   */
  long mostPages(int nodeBytes) {
    long elements = bytes + BoltPages.ELEMENT_BYTES * records;
    long pages = 0;
    while (true) {
      // Each node but the last is full, and fills its last page partly.
      long nodes = elements / nodeBytes + 1;
      pages += BoltPages.pages(elements + BoltPages.HEADER_BYTES * nodes) + nodes;
      if (nodes == 1) {
        return pages;
      }
      elements = nodes * (BoltPages.ELEMENT_BYTES + mostKeyBytes);
    }
  }
}
