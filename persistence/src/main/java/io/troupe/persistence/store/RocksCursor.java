package io.troupe.persistence.store;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.StoreException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** A cursor over a RocksDB iterator, whose view is frozen at its creation. */
final class RocksCursor implements Cursor {
  private final RocksIterator iterator;
  private final Release release;
  private final Function<RocksDBException, StoreException> failure;
  private final Bytes from;
  private final boolean reverse;
  private Place place = Place.BEFORE;
  private @Nullable Bytes key;
  private @Nullable Bytes value;

  private enum Place {
    BEFORE,
    ON_RECORD,
    BEHIND,
    CLOSED
  }

  /**
   * Resources that are released when the cursor closes.
   *
   * @param gate gate of the store, entered for this cursor
   * @param bound the iterator's upper end, or null if it has none
   */
  record Release(OpenGate gate, @Nullable UpperBound bound) {
    private void run() {
      if (bound != null) {
        bound.release();
      }
      gate.leave();
    }
  }

  /** Takes ownership of the iterator. */
  RocksCursor(
      RocksIterator iterator,
      Release release,
      Function<RocksDBException, StoreException> failure,
      Bytes from,
      boolean reverse) {
    this.iterator = iterator;
    this.release = release;
    this.failure = failure;
    this.from = from;
    this.reverse = reverse;
  }

  private void requireOpen() {
    if (place == Place.CLOSED) {
      throw new IllegalStateException("the cursor is closed");
    }
    // A long read must not delay closing the store.
    if (release.gate().isShut()) {
      throw new StoreException("the store is closed");
    }
  }

  @Override
  public boolean next() {
    requireOpen();
    switch (place) {
      case BEHIND -> {
        return false;
      }
      case CLOSED -> throw new IllegalStateException("checked above");
      case BEFORE -> {
        if (reverse) {
          iterator.seekToLast();
        } else {
          iterator.seek(from.toArrayUnsafe());
        }
      }
      case ON_RECORD -> {
        if (reverse) {
          iterator.prev();
        } else {
          iterator.next();
        }
      }
    }
    return settle();
  }

  @Override
  public boolean seek(Bytes target) {
    requireOpen();
    if (reverse) {
      iterator.seekForPrev(target.toArrayUnsafe());
    } else {
      Bytes start = target.compareTo(from) < 0 ? from : target;
      iterator.seek(start.toArrayUnsafe());
    }
    return settle();
  }

  private boolean settle() {
    key = null;
    value = null;
    if (iterator.isValid()) {
      place = Place.ON_RECORD;
      // RocksDB checks the upper end. Checking the lower one here saves a native object.
      if (!reverse || key().compareTo(from) >= 0) {
        return true;
      }
      key = null;
    } else {
      try {
        iterator.status();
      } catch (RocksDBException e) {
        throw failure.apply(e);
      }
    }
    place = Place.BEHIND;
    return false;
  }

  @Override
  public Bytes key() {
    Bytes known = key;
    if (known == null) {
      requireRecord();
      known = Bytes.wrap(iterator.key());
      key = known;
    }
    return known;
  }

  @Override
  public Bytes value() {
    Bytes known = value;
    if (known == null) {
      requireRecord();
      known = Bytes.wrap(iterator.value());
      value = known;
    }
    return known;
  }

  @Override
  public Bytes valueHead(int maxBytes) {
    Bytes known = value;
    if (known != null) {
      return known.length() <= maxBytes ? known : known.slice(0, maxBytes);
    }
    requireRecord();
    byte[] head = new byte[maxBytes];
    int length = iterator.value(head);
    return Bytes.wrap(head, 0, Math.min(length, maxBytes));
  }

  @Override
  public int keyTo(byte[] target) {
    requireRecord();
    return iterator.key(target);
  }

  @Override
  public int valueTo(byte[] target) {
    requireRecord();
    return iterator.value(target);
  }

  private void requireRecord() {
    if (place != Place.ON_RECORD) {
      throw new IllegalStateException("cursor is not at a record");
    }
  }

  @Override
  public void close() {
    if (place == Place.CLOSED) {
      return;
    }
    place = Place.CLOSED;
    iterator.close();
    release.run();
  }
}
