package io.troupe.watch;

import io.troupe.model.SharedEvents;

/**
 * Live events for one watcher.
 *
 * @param serial of the watcher in its stream
 * @param events of one or more revisions, each of them whole (W6), in order; not empty
 */
public record Delivery(long serial, SharedEvents events) {}
