package io.troupe.simulation.world;

import io.troupe.model.Bytes;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreView;
import org.jspecify.annotations.Nullable;

/**
 * A store in memory that maintains a digest of its replicated rows. Each member removes compacted
 * versions at its own rate. So for versions and changes all rows ever written count; for all other
 * spaces the current rows count. Each member also counts its live keys in blocks of its own.
 */
final class DigestStore implements OrderedStore {
  private static final Bytes LOCAL = Bytes.utf8("compaction-finished");
  private static final Bytes LOCAL_PREFIX = Bytes.utf8("count/");

  private final InMemoryOrderedStore rows;
  private long digest;

  DigestStore() {
    this(new InMemoryOrderedStore(), 0);
  }

  private DigestStore(InMemoryOrderedStore rows, long digest) {
    this.rows = rows;
    this.digest = digest;
  }

  /** Returns an independent copy of the current content. */
  DigestStore copy() {
    return new DigestStore(rows.copy(), digest);
  }

  /** Equal for equal replicated content. */
  long digest() {
    return digest;
  }

  @Override
  public void write(StoreBatch batch) {
    for (int i = 0; i < batch.changes().size(); i++) {
      StoreBatch.Change change = batch.changes().get(i);
      Bytes value = change.value();
      boolean versions = change.space() == Space.KEY || change.space() == Space.REV;
      if (change.space() == Space.META && isLocal(change.key())) {
        continue;
      }
      if (!versions) {
        // A batch may name a row twice; the digest follows it change by change.
        Bytes old = before(batch, i);
        digest -= old == null ? 0 : mix(change.space(), change.key(), old);
      }
      digest += value == null ? 0 : mix(change.space(), change.key(), value);
    }
    rows.write(batch);
  }

  private static boolean isLocal(Bytes key) {
    return key.equals(LOCAL) || key.startsWith(LOCAL_PREFIX);
  }

  /**
   * Flips one bit of the newest record of every key that has a value. Returns false if there is no
   * such key.
   */
  boolean flipValues() {
    StoreBatch batch = new StoreBatch();
    try (Cursor records = rows.cursor(Space.LATEST, Bytes.of(1), null, false)) {
      while (records.next()) {
        byte[] flipped = records.value().toArray();
        flipped[flipped.length - 1] ^= 4;
        batch.put(Space.LATEST, records.key(), Bytes.wrap(flipped));
      }
    }
    rows.write(batch);
    return !batch.changes().isEmpty();
  }

  /** Returns the content of a row just before the change at an index of a batch. */
  private @Nullable Bytes before(StoreBatch batch, int index) {
    StoreBatch.Change change = batch.changes().get(index);
    for (int i = index - 1; i >= 0; i--) {
      StoreBatch.Change earlier = batch.changes().get(i);
      if (earlier.space() == change.space() && earlier.key().equals(change.key())) {
        return earlier.value();
      }
    }
    return rows.get(change.space(), change.key());
  }

  private static long mix(Space space, Bytes key, Bytes value) {
    long h = 0x9E3779B97F4A7C15L * space.name().length() + space.name().charAt(0);
    h = fold(h, key);
    h = fold(h * 0xBF58476D1CE4E5B9L + key.length(), value);
    h ^= h >>> 31;
    return h * 0x94D049BB133111EBL;
  }

  private static long fold(long seed, Bytes bytes) {
    long h = seed;
    for (int i = 0; i < bytes.length(); i++) {
      h = (h ^ bytes.at(i)) * 0x100000001B3L;
      h ^= h >>> 29;
    }
    return h;
  }

  @Override
  public StoreView freeze() {
    return rows.freeze();
  }

  @Override
  public @Nullable Bytes get(Space space, Bytes key) {
    return rows.get(space, key);
  }

  @Override
  public Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
    return rows.cursor(space, from, toExclusive, reverse);
  }

  @Override
  public long sizeOnDisk() {
    return rows.sizeOnDisk();
  }

  @Override
  public long sizeInUse() {
    return rows.sizeInUse();
  }

  @Override
  public void close() {}
}
