package io.troupe.persistence.wal;

import io.troupe.snapshot.LogExtent;

/**
 * Status of a log at one moment.
 *
 * @param segments number of segments on disk, including the open one
 * @param currentSegment number of the open segment
 * @param compactedIndex entries at or below it may be removed; 0 at first
 * @param lastIndex index of the last entry, or the compacted index if there is none
 * @param records number of the last record written, counted over the whole log
 * @param forcedRecords number of the last record that was forced
 * @param sizeOnDisk size on disk in bytes
 * @param broken true after a failure
 * @param extent its segments
 */
public record WalStatus(
    int segments,
    long currentSegment,
    long compactedIndex,
    long lastIndex,
    long records,
    long forcedRecords,
    long sizeOnDisk,
    boolean broken,
    LogExtent extent) {}
