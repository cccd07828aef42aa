package io.troupe.lease;

/** Effect of an applied entry on a lease, for the leader's countdown. */
public sealed interface LeaseChange {
  /** Id of the lease. */
  long id();

  /** The lease was granted. */
  record Granted(long id, long ttlSeconds) implements LeaseChange {}

  /** The lease was revoked and its keys are deleted. */
  record Revoked(long id) implements LeaseChange {}

  /** The remaining time is recorded for the next leader; 0 deletes the checkpoint. */
  record Checkpointed(long id, long remainingSeconds) implements LeaseChange {}
}
