package io.troupe.tests.process;

/**
 * The heap of the members that tests start: by default that of bin/node on a machine with 2 GiB or
 * more. The profile {@code small-heap} runs the process tests again with 256 MiB. Tests that
 * compare heaps themselves are marked with {@link OwnHeap}.
 */
public final class TestHeap {
  private static final String SIZE = System.getProperty("troupe.test.heap", "512m");
  private static final int SMALL = 256;

  private TestHeap() {}

  /** The size as in {@code -Xmx} and {@code TROUPE_HEAP}, for example {@code 512m}. */
  public static String size() {
    return SIZE;
  }

  /**
   * An amount of load that grows with the heap.
   *
   * @param amount what a heap of 256 MiB needs
   */
  public static int scaled(int amount) {
    return amount * mebibytes(SIZE) / SMALL;
  }

  /**
   * KiB by which the live objects of a member may grow with use: a cache, such as that of recent
   * entries, may take an eighth of the heap; 16 MiB are for everything else.
   */
  public static long cachesKiB(String heap) {
    return (mebibytes(heap) / 8 + 16) * 1024L;
  }

  private static int mebibytes(String size) {
    if (!size.matches("[1-9][0-9]{0,5}m")) {
      throw new IllegalArgumentException("troupe.test.heap = " + size + ": expected 256m or 512m");
    }
    return Integer.parseInt(size.substring(0, size.length() - 1));
  }
}
