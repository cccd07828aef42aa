package io.troupe.model;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * Events, in order, that watchers get in one response. If several watchers get them, their size is
 * computed once and their encoded form is stored, so that each further response costs one copy.
 * Immutable and thread-safe: two threads that encode at the same time write equal bytes.
 */
public final class SharedEvents extends AbstractList<SharedEvent> implements RandomAccess {
  /** Encodes events. */
  public interface Encoder {
    /** Returns the encoded form, with or without the previous records. */
    byte[] encode(SharedEvents events, boolean prevKv);
  }

  private final List<SharedEvent> events;
  private final boolean severalWatchers;
  private final long bytes;
  private final long bytesWithPrev;
  private volatile byte @Nullable [] withPrev;
  private volatile byte @Nullable [] withoutPrev;

  private SharedEvents(List<SharedEvent> events, boolean severalWatchers) {
    this.events = List.copyOf(events);
    this.severalWatchers = severalWatchers;
    long sum = 0;
    long sumWithPrev = 0;
    for (SharedEvent event : this.events) {
      sum += event.event().maxBytes(false);
      sumWithPrev += event.event().maxBytes(true);
    }
    this.bytes = sum;
    this.bytesWithPrev = sumWithPrev;
  }

  /** Events of one watcher. */
  public static SharedEvents ofOne(List<SharedEvent> events) {
    return new SharedEvents(events, false);
  }

  /** Events of several watchers. */
  public static SharedEvents ofSeveral(List<SharedEvent> events) {
    return new SharedEvents(events, true);
  }

  /** Upper bound of the encoded size, with or without the previous records. */
  public long maxBytes(boolean prevKv) {
    return prevKv ? bytesWithPrev : bytes;
  }

  /**
   * The encoded form; must not be written to. Only events of several watchers keep it.
   *
   * @param prevKv with the previous records
   * @param encoder used if they are not encoded yet
   */
  public byte[] encoded(boolean prevKv, Encoder encoder) {
    byte[] known = prevKv ? withPrev : withoutPrev;
    if (known == null) {
      known = encoder.encode(this, prevKv);
      if (severalWatchers && prevKv) {
        withPrev = known;
      } else if (severalWatchers) {
        withoutPrev = known;
      }
    }
    return known;
  }

  @Override
  public SharedEvent get(int index) {
    return events.get(index);
  }

  @Override
  public int size() {
    return events.size();
  }
}
