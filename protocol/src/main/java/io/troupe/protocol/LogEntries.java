package io.troupe.protocol;

import io.troupe.model.Entry;
import java.util.List;

/**
 * Entries of the log.
 *
 * @param entries contiguous from the first requested index; empty if that one is missing; immutable
 */
public record LogEntries(List<Entry> entries) {}
