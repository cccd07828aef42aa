package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.Refusal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A chunk of a long read at one revision (2.4). */
public sealed interface Page {

  /**
   * Records in the requested order.
   *
   * @param next start of the next chunk, or null if the range is complete
   * @param bytes size of keys and values, for choosing the size of the next chunk
   */
  record Records(List<KeyValue> kvs, @Nullable Bytes next, long bytes) implements Page {}

  /** Refused: {@link Refusal#COMPACTED} or {@link Refusal#FUTURE_REVISION}. */
  record Refused(Refusal reason) implements Page {}
}
