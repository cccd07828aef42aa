package io.troupe.mvcc;

import io.troupe.model.Refusal;

/** The result of hashing the store at a revision (MT6). */
public sealed interface HashResult {

  /**
   * A hash.
   *
   * @param hash CRC-32C, unsigned in an int
   * @param compactRevision compacted revision under which it was computed; equal inputs give equal
   *     hashes on all members
   * @param hashRevision revision that was hashed; negative if the request's was: then the hash
   *     covers no record
   * @param storeRevision current revision, for the header
   */
  record Hash(int hash, long compactRevision, long hashRevision, long storeRevision)
      implements HashResult {}

  /** Refused: {@link Refusal#COMPACTED} or {@link Refusal#FUTURE_REVISION}. */
  record Refused(Refusal reason) implements HashResult {}
}
