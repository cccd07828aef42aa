package io.troupe.etcd;

import io.troupe.etcd.bolt.BoltSizes;
import io.troupe.etcd.bolt.BoltWriter;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.mvcc.FrozenHistory;
import io.troupe.mvcc.HistoryExport;
import io.troupe.mvcc.HistorySizes;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.StoreView;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A frozen state as a database file of etcd, which is read from the beginning to the end (MT8,
 * 8.6). First {@link #measure} walks over all records; then {@link #fileBytes} is known, and {@link
 * #read} returns the file.
 *
 * <p>Memory: the window of {@link HistoryExport} and about a megabyte, whatever the size of the
 * state, except for rows of members, alarms, users and roles. No cursor stays open between two
 * calls, so a client that waits blocks nothing. One thread at a time.
 */
public final class DatabaseExport implements AutoCloseable {
  private static final String KEY = "key";
  private static final String LEASE = "lease";

  private final StoreView view;
  private final FrozenHistory at;
  private final ClusterVersions versions;
  private final long windowBytes;
  private final SortedMap<String, SortedMap<Bytes, Bytes>> small;
  private final HistorySizes history;
  private final Deque<Bucket> left = new ArrayDeque<>();
  private @Nullable BoltWriter writer;
  private @Nullable BucketRows rows;
  private boolean complete;

  /** Opens the rows of a bucket when its turn comes. */
  private record Bucket(String name, RowsOpener opener) {}

  private interface RowsOpener {
    BucketRows open();
  }

  private DatabaseExport(StoreView view, long windowBytes) {
    this.view = view;
    this.windowBytes = windowBytes;
    this.at = FrozenHistory.of(view);
    this.versions = MetaRows.versions(view);
    this.small = SmallBuckets.of(view, at, versions);
    this.history = new HistorySizes(view, at);
  }

  /**
   * Freezes a state and begins its export.
   *
   * @param windowBytes as for {@link HistoryExport}
   */
  public static DatabaseExport of(OrderedStore store, long windowBytes) {
    StoreView view = store.freeze();
    @Nullable DatabaseExport made = null;
    try {
      made = new DatabaseExport(view, windowBytes);
      return made;
    } finally {
      if (made == null) {
        view.close();
      }
    }
  }

  /** Versions in the state. */
  public ClusterVersions versions() {
    return versions;
  }

  /** Position of the state. */
  public FrozenHistory position() {
    return at;
  }

  /**
   * Measures the next records.
   *
   * @param count maximum number of records, 1 or more
   * @return true when all are measured
   */
  public boolean measure(int count) {
    if (history.advance(count)) {
      return false;
    }
    List<BoltSizes> sizes = new ArrayList<>();
    for (SortedMap<Bytes, Bytes> bucket : small.values()) {
      sizes.add(sizesOf(BucketRows.of(bucket)));
    }
    sizes.add(sizesOf(new LeaseRows(view)));
    BoltSizes records = new BoltSizes();
    records.add(history.records(), history.bytes(), HistorySizes.MOST_KEY_BYTES);
    sizes.add(records);
    writer = new BoltWriter(sizes);
    small.forEach((name, bucket) -> left.add(new Bucket(name, () -> BucketRows.of(bucket))));
    left.add(new Bucket(LEASE, () -> new LeaseRows(view)));
    left.add(new Bucket(KEY, () -> new HistoryRows(new HistoryExport(view, at, windowBytes))));
    return true;
  }

  private static BoltSizes sizesOf(BucketRows bucket) {
    BoltSizes sizes = new BoltSizes();
    while (bucket.next()) {
      long value = bucket.value().stream().mapToLong(Bytes::length).sum();
      sizes.add(bucket.key().length(), value);
    }
    return sizes;
  }

  /** Size of the whole file in bytes, a multiple of 4096. Known when all records are measured. */
  public long fileBytes() {
    return writer().fileBytes();
  }

  /**
   * Memory that the largest record takes besides the window, in bytes. Known when all records are
   * measured.
   */
  public long mostBytesOfOne() {
    return history.mostBytesOfOne();
  }

  /**
   * The next bytes of the file.
   *
   * @param most maximum number of bytes, 1 or more
   * @return fewer only at the end of the file
   */
  public Bytes read(int most) {
    while (!complete && writer().unreadBytes() < most) {
      writeNext();
    }
    return writer().read(most);
  }

  private void writeNext() {
    BucketRows current = rows;
    if (current == null) {
      if (left.isEmpty()) {
        complete = writer().finish();
        return;
      }
      writer().beginBucket();
      rows = left.getFirst().opener().open();
    } else if (current.next()) {
      writer().put(current.key(), current.value());
    } else {
      rows = null;
      writer().endBucket(left.removeFirst().name());
    }
  }

  private BoltWriter writer() {
    if (writer == null) {
      throw new IllegalStateException("the records are not measured yet");
    }
    return writer;
  }

  @Override
  public void close() {
    view.close();
  }
}
