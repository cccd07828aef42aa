package io.troupe.mvcc;

/**
 * How far the committed state is, as readers see it. All of a view's data is in the store.
 *
 * @param revision current main revision, 1 or more (R1)
 * @param compactedRevision reads below it are refused; -1 when nothing was compacted (R1)
 * @param appliedIndex log index of the last applied entry, 0 when there was none
 */
public record ReadView(long revision, long compactedRevision, long appliedIndex) {}
