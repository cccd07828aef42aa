package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reads of one state that changes between two calls only if its owner writes. */
public interface KvRead {
  /** Current main revision. */
  long revision();

  /** Reads below it are refused; -1 if nothing was compacted. */
  long compactedRevision();

  /** The live record of a key, or null. */
  @Nullable KeyValue get(Bytes key);

  /**
   * Passes every live record of a range, in key order, to {@code more} until it returns false.
   *
   * @param whole false if values and leases are not needed: then they are not read, and the records
   *     may lack them
   */
  void scan(KeyRange range, boolean whole, Predicate<KeyValue> more);
}
