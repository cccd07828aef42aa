package io.troupe.model;

import java.util.List;

/**
 * The answer of a read.
 *
 * @param revision store revision at the time of the read (R5)
 * @param kvs in the asked order
 * @param more whether the limit cut something off
 * @param count number of keys in the range at the asked revision, whatever limit and filters say
 *     (G4)
 */
public record RangeResult(long revision, List<KeyValue> kvs, boolean more, long count) {}
