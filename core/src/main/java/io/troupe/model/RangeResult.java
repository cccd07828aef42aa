package io.troupe.model;

import java.util.List;

/**
 * The result of a read.
 *
 * @param revision store revision at the time of the read (R5)
 * @param kvs in the requested order
 * @param more true if the limit cut off records
 * @param count number of keys in the range at the requested revision, regardless of limit and
 *     filters (G4)
 */
public record RangeResult(long revision, List<KeyValue> kvs, boolean more, long count) {}
