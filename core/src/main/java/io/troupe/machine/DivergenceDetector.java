package io.troupe.machine;

import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Detects that this member's state differs from the leader's. A leader publishes its digest after a
 * number of entries and at each check interval. A member with a different digest stops serving and
 * raises the alarm CORRUPT for itself, again at each interval until the alarm is active. While that
 * alarm is active the member does not serve, also after a restart. Used only by the thread that
 * applies.
 *
 * @source docs/decisions/0060
 */
public final class DivergenceDetector {
  private final NodeId self;
  private final int every;
  private final DivergenceEffects effects;
  private final DigestCheck digests;

  /** Term in which this member leads; 0 if it does not lead. */
  private long leadingTerm;

  private boolean alarmed;
  private boolean differs;
  private boolean corrupt;
  private long publishedIndex;

  /**
   * Starts with the state as it was opened. Call {@link #committed} before anything is applied.
   *
   * @param every entries between two digests of a leader; up to one batch more
   * @param index applied index of the state
   * @param digest its digest
   */
  public DivergenceDetector(
      NodeId self, int every, long index, long digest, DivergenceEffects effects) {
    this.self = self;
    this.every = every;
    this.effects = effects;
    this.digests = new DigestCheck(index, digest);
    this.publishedIndex = index;
  }

  /**
   * This member starts or stops leading.
   *
   * @param term in which it leads; 0 if it does not lead
   */
  public void leading(long term) {
    leadingTerm = term;
  }

  /** The state machine applied an entry. */
  public void applied(long index, long digest) {
    onDifference(digests.applied(index, digest));
  }

  /**
   * A batch was written.
   *
   * @param isAlarmed whether the alarm CORRUPT is active for this member now
   */
  public void committed(boolean isAlarmed) {
    alarmed = isAlarmed;
    if (digests.index() - publishedIndex >= every) {
      publishDigest();
    }
    updateCorrupt();
  }

  /**
   * Called at each check interval. Publishes the digest for members that missed one or joined, and
   * raises the alarm if it is not active yet.
   */
  public void check() {
    publishDigest();
    if (differs) {
      effects.raiseAlarm(new Operation.AlarmActivate(self, AlarmType.CORRUPT));
    }
  }

  /** Compares the digest of the leader that this member follows with its own. */
  public void compare(long index, long leadersDigest) {
    onDifference(digests.compare(index, leadersDigest));
  }

  /** True while this member must not serve. */
  public boolean isCorrupt() {
    return corrupt;
  }

  private void publishDigest() {
    publishedIndex = digests.index();
    // A member whose own state is corrupt must not publish its digest.
    if (leadingTerm != 0 && !corrupt) {
      effects.publishDigest(leadingTerm, digests.index(), digests.digest());
    }
  }

  private void onDifference(DigestCheck.@Nullable Difference difference) {
    if (difference == null || corrupt) {
      return;
    }
    effects.differs(difference);
    differs = true;
    updateCorrupt();
    check();
  }

  /**
   * Once the alarm is active it replaces the detected difference. When an operator disarms it, the
   * next digest decides.
   */
  private void updateCorrupt() {
    differs &= !alarmed;
    boolean now = differs || alarmed;
    if (now != corrupt) {
      corrupt = now;
      effects.corruptChanged(now, alarmed);
    }
  }
}
