package io.troupe.watch;

import java.util.List;

/**
 * The effects that the shell of a {@link WatchHubCore} must execute. The messages to one stream
 * arrive there in this order.
 *
 * @param <S> identifies a stream
 */
public interface WatchHubEffects<S> {
  /**
   * Sends live events.
   *
   * @param revision last revision that the hub has processed; all events up to it are in this or an
   *     earlier message to the stream
   * @param deliveries one for each watcher that has events, not empty
   */
  void deliver(S stream, long revision, List<Delivery> deliveries);

  /** From here on the watcher receives live events; none was missed. */
  void joined(S stream, long serial);

  /** The hub has published later revisions: the watcher must read them from history first. */
  void lagging(S stream, long serial);

  /**
   * The events of a revision are not delivered. These watchers read them from history and no longer
   * receive live events.
   *
   * @param revision every event before it was delivered
   */
  void readFromHistory(S stream, List<Long> serials, long revision);
}
