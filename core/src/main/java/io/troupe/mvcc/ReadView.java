package io.troupe.mvcc;

/**
 * Position of the committed state, as readers see it. All data of a view is in the store.
 *
 * @param revision current main revision, 1 or more (R1)
 * @param compactedRevision reads below it are refused; -1 if nothing was compacted (R1)
 * @param appliedIndex log index of the last applied entry, 0 if there was none
 */
public record ReadView(long revision, long compactedRevision, long appliedIndex) {}
