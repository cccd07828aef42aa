package io.troupe.watch;

import io.troupe.model.SharedEvent;
import java.util.List;

/**
 * Events of one revision for one watcher, in order.
 *
 * @param serial of the watcher in its stream
 */
public record Delivery(long serial, long revision, List<SharedEvent> events) {}
