package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The last positions of a walk; memory grows with their number alone. One thread. */
final class LastPlaces {
  private final long most;
  private final MemoryBudget.Share share;
  private Bytes[] ring;
  private long added;

  /**
   * Keeps the last {@code most} positions.
   *
   * @param most 1 or more
   * @param share counts them; {@link #add} throws {@link MemoryBudget.Exceeded} if they do not fit
   */
  LastPlaces(long most, MemoryBudget.Share share) {
    this.most = most;
    this.share = share;
    this.ring = new Bytes[(int) Math.min(most, 1024)];
  }

  void add(Bytes place) {
    if (added == ring.length && ring.length < most) {
      ring = Arrays.copyOf(ring, (int) Math.min(most, 2L * ring.length));
    }
    if (added < ring.length) {
      share.add(place.length());
    }
    ring[(int) (added++ % ring.length)] = place;
  }

  /** Number of positions so far. */
  long added() {
    return added;
  }

  List<Bytes> newestFirst() {
    long taken = Math.min(added, ring.length);
    List<Bytes> places = new ArrayList<>((int) taken);
    for (long i = added - 1; i >= added - taken; i--) {
      places.add(ring[(int) (i % ring.length)]);
    }
    return places;
  }
}
