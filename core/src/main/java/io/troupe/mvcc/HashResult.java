package io.troupe.mvcc;

import io.troupe.model.Refusal;

/** What hashing the store at a revision came to (MT6). */
public sealed interface HashResult {

  /**
   * A hash.
   *
   * @param hash CRC-32C, unsigned in an int
   * @param compactRevision compacted revision it was made under; equal inputs give equal hashes on
   *     all members
   * @param hashRevision revision that was hashed; negative if the request's was, and then the hash
   *     covers no record
   * @param storeRevision current revision, for the header
   */
  record Hash(int hash, long compactRevision, long hashRevision, long storeRevision)
      implements HashResult {}

  /** Refused: {@link Refusal#COMPACTED} or {@link Refusal#FUTURE_REVISION}. */
  record Refused(Refusal reason) implements HashResult {}
}
