package io.troupe.machine;

import io.troupe.model.Operation;

/** The effects that the shell of a {@link DivergenceDetector} must execute. */
public interface DivergenceEffects {
  /**
   * Sends the digest of this leader to all other members; it may be lost.
   *
   * @param term in which this member leads
   * @param index applied index that the digest belongs to
   */
  void publishDigest(long term, long index, long digest);

  /** Proposes the alarm CORRUPT for this member. The result does not matter: it is repeated. */
  void raiseAlarm(Operation.AlarmActivate alarm);

  /** This member's state differs from the leader's; {@link #corruptChanged} follows. */
  void differs(DigestCheck.Difference difference);

  /**
   * Whether this member must not serve has changed.
   *
   * @param corrupt true if it must not serve
   * @param alarmed true if the alarm CORRUPT is active for this member
   */
  void corruptChanged(boolean corrupt, boolean alarmed);
}
