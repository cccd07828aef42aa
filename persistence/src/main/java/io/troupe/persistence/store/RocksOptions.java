package io.troupe.persistence.store;

import io.troupe.mvcc.OrderedStore.Space;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.IndexType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RateLimiter;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.Snapshot;
import org.rocksdb.TablePropertiesCollectorFactory;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/** Every native option object of one open store; freed together, in reverse order. */
final class RocksOptions implements AutoCloseable {
  private static final int BLOCK_BYTES = 8 << 10;
  private static final int METADATA_BLOCK_BYTES = 4 << 10;
  private static final int BLOOM_BITS = 10;
  private static final int TABLE_BYTES = 32 << 20;

  /** A file is compacted soon if this many of so many consecutive rows are tombstones. */
  private static final int STRETCH_ROWS = 10_000;

  private static final int STRETCH_TOMBSTONES = 5_000;

  private final Deque<AutoCloseable> owned = new ArrayDeque<>();
  private final DBOptions db;
  private final List<ColumnFamilyDescriptor> families = new ArrayList<>();
  private final ReadOptions read;
  private final ReadOptions longRead;
  private final WriteOptions write;
  private final FlushOptions flushLater;

  RocksOptions(RocksSettings settings) {
    // The buffers are charged to the cache, so one number limits both.
    LRUCache cache =
        own(new LRUCache(settings.blockCacheBytes() + settings.writeBufferBytes(), -1, false, 0.2));
    WriteBufferManager buffers =
        own(new WriteBufferManager(settings.writeBufferBytes(), cache, false));
    db = own(dbOptions(settings, buffers));
    if (settings.compactionBytesPerSecond() > 0) {
      db.setRateLimiter(own(new RateLimiter(settings.compactionBytesPerSecond())));
    }
    BloomFilter bloom = own(new BloomFilter(BLOOM_BITS, false));
    ColumnFamilyOptions unused = own(new ColumnFamilyOptions());
    families.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, unused));
    for (Space space : Space.values()) {
      families.add(
          new ColumnFamilyDescriptor(
              familyName(space), own(family(settings, cache, bloom, space))));
    }
    read = own(readOptions());
    longRead = own(longReadOptions());
    write = own(new WriteOptions().setDisableWAL(true));
    flushLater = own(new FlushOptions().setWaitForFlush(false).setAllowWriteStall(true));
  }

  /**
   * The thread that closes a cursor must not delete the files that the cursor held, because that
   * may be the writer thread.
   */
  static ReadOptions readOptions() {
    return new ReadOptions().setBackgroundPurgeOnIteratorCleanup(true);
  }

  /** For a long read, which must not displace blocks that other reads need. */
  static ReadOptions longReadOptions() {
    return readOptions().setFillCache(false);
  }

  /** For a long read of a frozen view. */
  static ReadOptions readOptions(Snapshot snapshot) {
    return longReadOptions().setSnapshot(snapshot);
  }

  /** Name of a space on disk. */
  static byte[] familyName(Space space) {
    return space.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
  }

  DBOptions db() {
    return db;
  }

  /** RocksDB's mandatory default family first, which stays empty, then each space in order. */
  List<ColumnFamilyDescriptor> families() {
    return families;
  }

  ReadOptions read() {
    return read;
  }

  ReadOptions longRead() {
    return longRead;
  }

  WriteOptions write() {
    return write;
  }

  /** For a flush in background threads while the caller continues. */
  FlushOptions flushLater() {
    return flushLater;
  }

  private static DBOptions dbOptions(RocksSettings settings, WriteBufferManager buffers) {
    return new DBOptions()
        .setCreateIfMissing(true)
        .setCreateMissingColumnFamilies(true)
        // Required: without a log, only this keeps a batch over several families atomic.
        .setAtomicFlush(true)
        .setWriteBufferManager(buffers)
        .setMaxBackgroundJobs(settings.backgroundThreads())
        .setMaxOpenFiles(settings.maxOpenFiles())
        .setBytesPerSync(1 << 20)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
        .setMaxLogFileSize(4 << 20)
        .setKeepLogFileNum(2)
        .setStatsDumpPeriodSec(0)
        .setStatsPersistPeriodSec(0);
  }

  /**
   * Keeps walks fast over ranges with many deletions. RocksDB keeps a tombstone for each deleted
   * row until it has been merged with all older versions of the row, and a walk steps over each
   * tombstone. So a file with a stretch of mostly tombstones is compacted soon instead of when its
   * level is full.
   */
  private ColumnFamilyOptions merging() {
    Options options = own(new Options());
    options.setTablePropertiesCollectorFactory(
        List.of(
            own(
                TablePropertiesCollectorFactory.NewCompactOnDeletionCollectorFactory(
                    STRETCH_ROWS, STRETCH_TOMBSTONES, 0))));
    return new ColumnFamilyOptions(options);
  }

  private ColumnFamilyOptions family(
      RocksSettings settings, LRUCache cache, BloomFilter bloom, Space space) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setBlockSize(BLOCK_BYTES)
            .setFormatVersion(5)
            // With 100 million keys the index and the filters are larger than the cache. In parts,
            // a read loads one part of each in place of a whole file's.
            .setIndexType(IndexType.kTwoLevelIndexSearch)
            .setPartitionFilters(true)
            .setMetadataBlockSize(METADATA_BLOCK_BYTES)
            .setCacheIndexAndFilterBlocks(true)
            .setCacheIndexAndFilterBlocksWithHighPriority(true)
            .setPinL0FilterAndIndexBlocksInCache(true);
    if (space != Space.KEY) {
      // Versions of a key are found by seeking, for which a filter over whole keys is useless.
      table.setFilterPolicy(bloom);
    }
    long buffer = Math.max(1 << 20, settings.writeBufferBytes() / 2);
    return merging()
        .setTableFormatConfig(table)
        .setCompressionType(CompressionType.LZ4_COMPRESSION)
        .setLevelCompactionDynamicLevelBytes(true)
        .setWriteBufferSize(buffer)
        .setMaxWriteBufferNumber(4)
        .setTargetFileSizeBase(TABLE_BYTES)
        // The files of each level are larger than those above, so there are few in a large state.
        .setTargetFileSizeMultiplier(2);
  }

  private <T extends AutoCloseable> T own(T option) {
    owned.push(option);
    return option;
  }

  @Override
  public void close() {
    while (!owned.isEmpty()) {
      try {
        owned.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException("cannot free an option", e);
      }
    }
  }
}
