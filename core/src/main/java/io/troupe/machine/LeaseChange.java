package io.troupe.machine;

/** What an applied entry did to a lease, for the leader's countdown. */
public sealed interface LeaseChange {
  /** Which lease. */
  long id();

  /** It was granted. */
  record Granted(long id, long ttlSeconds) implements LeaseChange {}

  /** It ended and its keys are deleted. */
  record Revoked(long id) implements LeaseChange {}

  /** What was left is remembered for the next leader; 0 is nothing special to remember. */
  record Checkpointed(long id, long remainingSeconds) implements LeaseChange {}
}
