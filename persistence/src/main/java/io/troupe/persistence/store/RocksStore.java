package io.troupe.persistence.store;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreException;
import io.troupe.mvcc.StoreView;
import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Checkpoint;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.FlushOptions;
import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;
import org.rocksdb.WriteBatch;
import org.rocksdb.util.Environment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@link OrderedStore} on RocksDB: one column family per space, without a RocksDB log, flushed
 * atomically over all families. A crash always loses a complete tail of batches, in order; the
 * write-ahead log restores it.
 *
 * <p>Safe for any number of reading threads and for two writing ones (apply and background
 * compaction). {@link #close()} waits for calls and cursors in other threads and flushes.
 */
public final class RocksStore implements OrderedStore {
  private static final Logger LOG = LoggerFactory.getLogger(RocksStore.class);
  private static final long CLOSE_TIMEOUT_MS = 10_000;
  private static final long SIZE_AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * Tombstones that a walk may meet in the write buffers: they cost about ten milliseconds. They
   * are merged away only in files.
   */
  private static final int MAX_TOMBSTONES_IN_BUFFERS = 50_000;

  private final Path directory;
  private final RocksOptions options;
  private final RocksDB db;
  private final boolean readOnly;
  private final List<ColumnFamilyHandle> handles;
  private final Map<Space, ColumnFamilyHandle> spaces = new EnumMap<>(Space.class);
  private final UpperBound.Pool bounds = new UpperBound.Pool();
  private final OpenGate gate = new OpenGate();
  private final RocksReads reads;

  /** Of LATEST, the space that clients' ranges walk over. */
  private final MergeTrigger mergeTrigger;

  private final Set<FrozenView> views = ConcurrentHashMap.newKeySet();

  /** Since the last flush that tombstones caused; other flushes may have happened meanwhile. */
  private final AtomicInteger tombstonesInBuffers = new AtomicInteger();

  private volatile Consumer<StoreException> damaged = damage -> {};
  private final Object sizesLock = new Object();
  private volatile Sizes sizes;

  private record Sizes(long onDisk, long inUse, long readAtNanos) {}

  private RocksStore(
      Path directory,
      RocksOptions options,
      RocksDB db,
      List<ColumnFamilyHandle> handles,
      boolean readOnly) {
    this.directory = directory;
    this.options = options;
    this.db = db;
    this.handles = handles;
    this.readOnly = readOnly;
    int next = 1;
    for (Space space : Space.values()) {
      spaces.put(space, handles.get(next++));
    }
    this.mergeTrigger = new MergeTrigger(db, handle(Space.LATEST));
    this.reads = new RocksReads(db, this::handle, gate, this::failed);
    this.sizes = readSizes();
  }

  /**
   * Opens the store in {@code directory}, creating it if missing.
   *
   * @throws StoreException if it cannot be read; see {@link StoreFailure#of}
   */
  public static RocksStore open(Path directory, RocksSettings settings) {
    return open(directory, settings, false);
  }

  /**
   * Opens a store or a checkpoint without changing anything in it; {@link #write} fails.
   *
   * @throws StoreException if it cannot be read
   */
  public static RocksStore openReadOnly(Path directory, RocksSettings settings) {
    return open(directory, settings, true);
  }

  private static RocksStore open(Path directory, RocksSettings settings, boolean readOnly) {
    prepare(directory, readOnly);
    RocksOptions options = new RocksOptions(settings);
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    @Nullable RocksStore opened = null;
    try {
      refuseUnknownSpaces(directory, options);
      String path = directory.toString();
      RocksDB db =
          readOnly
              ? RocksDB.openReadOnly(options.db(), path, options.families(), handles)
              : RocksDB.open(options.db(), path, options.families(), handles);
      opened = new RocksStore(directory, options, db, List.copyOf(handles), readOnly);
      return opened;
    } catch (RocksDBException e) {
      throw new StoreException("cannot open the store in " + directory + ": " + e.getMessage(), e);
    } finally {
      if (opened == null) {
        options.close();
      }
    }
  }

  private static void prepare(Path directory, boolean readOnly) {
    try {
      if (!readOnly) {
        DurableFiles.createDirectory(directory);
      }
      loadLibrary(readOnly ? null : directory);
    } catch (IOException e) {
      throw new StoreException("cannot open the store in " + directory + ": " + e, e);
    }
  }

  /**
   * Loads the native library once per process, unless {@link NativeLibrary} has. It is unpacked to
   * a fixed name in {@code directory}, where the next start replaces it: in the temporary directory
   * each killed process would leave a copy of tens of megabytes. If the directory forbids
   * execution, the temporary directory is used nevertheless.
   */
  private static void loadLibrary(@Nullable Path directory) throws IOException {
    if (NativeLibrary.isLoaded()) {
      return;
    }
    if (directory != null) {
      Path library = directory.resolve(Environment.getJniLibraryFileName("rocksdb"));
      try {
        NativeLibraryLoader.getInstance().loadLibrary(directory.toString());
      } catch (IOException | UnsatisfiedLinkError | RuntimeException e) {
        LOG.warn("native library not loaded directory={} reason={}", directory, e.toString());
        // It may be incomplete on a full disk.
        Files.deleteIfExists(library);
      }
    }
    RocksDB.loadLibrary();
  }

  /** An unknown family was created by a newer program. */
  private static void refuseUnknownSpaces(Path directory, RocksOptions options)
      throws RocksDBException {
    if (!Files.exists(directory.resolve("CURRENT"))) {
      return;
    }
    Set<String> unknown = new TreeSet<>();
    try (Options listing = new Options()) {
      for (byte[] name : RocksDB.listColumnFamilies(listing, directory.toString())) {
        unknown.add(Bytes.wrap(name).utf8());
      }
    }
    for (ColumnFamilyDescriptor known : options.families()) {
      unknown.remove(Bytes.copyOf(known.getName()).utf8());
    }
    if (!unknown.isEmpty()) {
      throw new StoreException(
          "store of a newer version in " + directory + ", unknown spaces " + unknown);
    }
  }

  /**
   * Sets the listener that is called when a checksum or a structure on disk is wrong. After damage
   * in one place other places cannot be trusted, so the listener must stop the process.
   *
   * @param listener called from the thread that detected the damage, before it gets its exception
   */
  public void onDamage(Consumer<StoreException> listener) {
    damaged = listener;
  }

  @Override
  public StoreView freeze() {
    gate.enter();
    try {
      Snapshot snapshot = db.getSnapshot();
      FrozenView view = new FrozenView(reads, snapshot, views::remove);
      views.add(view);
      return view;
    } finally {
      gate.leave();
    }
  }

  @Override
  public @Nullable Bytes get(Space space, Bytes key) {
    return reads.get(space, key, options.read());
  }

  @Override
  public Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
    return reads.cursor(space, options.read(), bounds::take, from, toExclusive, reverse);
  }

  @Override
  public Cursor longCursor(Space space, Bytes from, @Nullable Bytes toExclusive) {
    return reads.cursor(
        space,
        options.longRead(),
        end -> UpperBound.once(end, RocksOptions.longReadOptions()),
        from,
        toExclusive,
        false);
  }

  @Override
  public void write(StoreBatch batch) {
    if (batch.isEmpty()) {
      return;
    }
    gate.enter();
    int tombstones = 0;
    try (WriteBatch out = new WriteBatch()) {
      for (StoreBatch.Change change : batch.changes()) {
        byte[] key = change.key().toArrayUnsafe();
        Bytes value = change.value();
        if (value == null) {
          tombstones += isWalked(change.space()) ? 1 : 0;
          out.delete(handle(change.space()), key);
        } else {
          out.put(handle(change.space()), key, value.toArrayUnsafe());
        }
      }
      db.write(options.write(), out);
      if (tombstones > 0
          && tombstonesInBuffers.addAndGet(tombstones) >= MAX_TOMBSTONES_IN_BUFFERS
          && hasSpaceToFlush()) {
        tombstonesInBuffers.set(0);
        db.flush(options.flushLater(), handles);
      }
    } catch (RocksDBException e) {
      throw failed("write", e);
    } finally {
      gate.leave();
    }
  }

  /**
   * A failed flush makes the store unusable, because it has no log of its own. Slow walks are
   * better than that, and the next deletion checks again.
   */
  private boolean hasSpaceToFlush() throws RocksDBException {
    long free = directory.toFile().getUsableSpace();
    return free / 2 > sum("rocksdb.cur-size-all-mem-tables");
  }

  /** The spaces in which clients' reads walk from row to row. */
  private static boolean isWalked(Space space) {
    return space == Space.LATEST || space == Space.LEASE;
  }

  /** {@inheritDoc} Table files and write buffers; at most a tenth of a second old. */
  @Override
  public long sizeOnDisk() {
    return currentSizes().onDisk();
  }

  /** {@inheritDoc} At most a tenth of a second old. */
  @Override
  public long sizeInUse() {
    return currentSizes().inUse();
  }

  /**
   * Flushes all batches written so far to disk, durably.
   *
   * @throws StoreException on failure
   */
  public void flush() {
    gate.enter();
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      db.flush(flush, handles);
    } catch (RocksDBException e) {
      throw failed("flush", e);
    } finally {
      gate.leave();
    }
  }

  /**
   * Creates a durable copy of the store at one moment between two batches, at or after this call:
   * all spaces, complete batches only. Table files are shared by hard links, so it takes little
   * time and space and must be on the same file system. Writers and readers continue meanwhile. It
   * is also the moment when the store decides how soon the newest records are merged.
   *
   * @param target a directory that does not exist; its parent exists. A crash leaves unusable
   *     content there
   * @throws StoreException on failure
   */
  public void checkpoint(Path target) {
    gate.enter();
    try (Checkpoint checkpoint = Checkpoint.create(db)) {
      checkpoint.createCheckpoint(target.toString());
      DurableFiles.forceTree(target);
      Path parent = target.toAbsolutePath().getParent();
      if (parent != null) {
        DurableFiles.forceDirectory(parent);
      }
      mergeTrigger.fit();
    } catch (RocksDBException e) {
      throw failed("make a checkpoint in " + target, e);
    } catch (IOException e) {
      throw new StoreException("cannot make a checkpoint in " + target + ": " + e, e);
    } finally {
      gate.leave();
    }
  }

  /**
   * Rewrites all files, so that the space of deleted and overwritten records is freed. Slow: for a
   * maintenance request, on a thread of its own.
   *
   * @throws StoreException on failure
   */
  public void compactFully() {
    gate.enter();
    try {
      for (ColumnFamilyHandle handle : handles) {
        db.compactRange(handle);
      }
      // Later calls must not see the sizes from before.
      freshSizes();
    } catch (RocksDBException e) {
      throw failed("compact", e);
    } finally {
      gate.leave();
    }
  }

  /** Bytes that are only in memory; a flush or a checkpoint writes at most about as many. */
  public long unwrittenBytes() {
    return property("rocksdb.cur-size-all-mem-tables");
  }

  /**
   * Statistics of RocksDB by property name, for metrics; summed over the spaces.
   *
   * @param property for example {@code rocksdb.num-running-compactions}
   */
  public long property(String property) {
    gate.enter();
    try {
      return sum(property);
    } catch (RocksDBException e) {
      throw failed("read property " + property, e);
    } finally {
      gate.leave();
    }
  }

  /**
   * Flushes and frees everything. Open cursors of other threads fail at their next step, so that
   * long reads do not delay the close.
   *
   * @throws StoreException if a call or a cursor is still open after ten seconds (nothing is freed
   *     then), or the flush failed
   */
  @Override
  public void close() {
    if (!gate.shut()) {
      return;
    }
    if (!gate.awaitEmpty(CLOSE_TIMEOUT_MS)) {
      throw new StoreException("closed while " + gate.users() + " reads or cursors are open");
    }
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      if (!readOnly) {
        db.flush(flush, handles);
      }
    } catch (RocksDBException e) {
      throw failed("flush before it closes", e);
    } finally {
      free();
    }
  }

  private void free() {
    views.forEach(FrozenView::release);
    bounds.close();
    for (ColumnFamilyHandle handle : handles) {
      handle.close();
    }
    try {
      db.closeE();
    } catch (RocksDBException e) {
      throw failed("close", e);
    } finally {
      options.close();
    }
  }

  private Sizes currentSizes() {
    Sizes known = sizes;
    if (System.nanoTime() - known.readAtNanos() < SIZE_AGE_NANOS) {
      return known;
    }
    gate.enter();
    try {
      return freshSizes();
    } finally {
      gate.leave();
    }
  }

  /** Synchronized, so that a later read never publishes older sizes. */
  private Sizes freshSizes() {
    synchronized (sizesLock) {
      Sizes fresh = readSizes();
      sizes = fresh;
      return fresh;
    }
  }

  private Sizes readSizes() {
    try {
      long buffers = sum("rocksdb.cur-size-all-mem-tables");
      // Without files that only open cursors hold: they are deleted with the cursors.
      long onDisk = sum("rocksdb.live-sst-files-size") + buffers;
      long inUse = Math.min(onDisk, sum("rocksdb.estimate-live-data-size") + buffers);
      return new Sizes(onDisk, inUse, System.nanoTime());
    } catch (RocksDBException e) {
      throw failed("read its sizes", e);
    }
  }

  private long sum(String property) throws RocksDBException {
    long sum = 0;
    for (ColumnFamilyHandle handle : handles) {
      sum += db.getLongProperty(handle, property);
    }
    return sum;
  }

  private ColumnFamilyHandle handle(Space space) {
    ColumnFamilyHandle handle = spaces.get(space);
    if (handle == null) {
      throw new StoreException("no space " + space);
    }
    return handle;
  }

  private StoreException failed(String what, RocksDBException e) {
    StoreException failure =
        new StoreException("the store cannot " + what + ": " + e.getMessage(), e);
    if (StoreFailure.of(failure) == StoreFailure.CORRUPTION) {
      damaged.accept(failure);
    }
    return failure;
  }
}
