package io.troupe.actors.apply;

import io.troupe.machine.DigestCheck;
import io.troupe.machine.StateMachine;
import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.protocol.PeerPayload;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects that this member's state differs from the leader's. A leader publishes its digest every
 * {@value #EVERY} entries and at each check interval. A member with a different digest stops
 * serving and raises the alarm CORRUPT for itself, again at each interval until the alarm is
 * active. While that alarm is active the member does not serve, also after a restart. Used only by
 * the apply actor.
 *
 * @source docs/decisions/0060
 */
final class DivergenceDetector {
  /** Entries between two digests of a leader; up to one batch more. */
  static final int EVERY = 256;

  private static final Logger LOG = LoggerFactory.getLogger(DivergenceDetector.class);

  /**
   * Where the detector sends its messages.
   *
   * @param self this member
   * @param others sends to all other members; a digest may be lost
   * @param propose proposes an operation; the result is ignored
   * @param corrupt receives whether this member must not serve, when that changes
   */
  record Links(
      NodeId self,
      Consumer<PeerPayload.StateDigest> others,
      Consumer<Operation> propose,
      Consumer<Boolean> corrupt) {}

  private final StateMachine machine;
  private final Links links;
  private final DigestCheck digests;

  /** Term in which this member leads; 0 if it does not lead. */
  private long leadingTerm;

  private boolean differs;
  private boolean corrupt;
  private long publishedIndex;

  DivergenceDetector(StateMachine machine, Links links) {
    this.machine = machine;
    this.links = links;
    this.digests = new DigestCheck(machine.appliedIndex(), machine.digest());
    this.publishedIndex = machine.appliedIndex();
    updateCorrupt();
  }

  /**
   * This member starts or stops leading.
   *
   * @param term in which it leads; 0 if it does not lead
   */
  void leading(long term) {
    leadingTerm = term;
  }

  /** The state machine applied an entry. */
  void applied() {
    onDifference(digests.applied(machine.appliedIndex(), machine.digest()));
  }

  /** A batch was written. */
  void committed() {
    if (digests.index() - publishedIndex >= EVERY) {
      publishDigest();
    }
    updateCorrupt();
  }

  /**
   * Called at each check interval. Publishes the digest for members that missed one or joined, and
   * raises the alarm if it is not active yet.
   */
  void check() {
    publishDigest();
    if (differs) {
      links.propose().accept(new Operation.AlarmActivate(links.self(), AlarmType.CORRUPT));
    }
  }

  /** Compares the digest of the leader that this member follows with its own. */
  void compare(PeerPayload.StateDigest leaders) {
    onDifference(digests.compare(leaders.index(), leaders.digest()));
  }

  private void publishDigest() {
    publishedIndex = digests.index();
    // A member whose own state is corrupt must not publish its digest.
    if (leadingTerm != 0 && !corrupt) {
      links
          .others()
          .accept(new PeerPayload.StateDigest(leadingTerm, digests.index(), digests.digest()));
    }
  }

  private void onDifference(DigestCheck.@Nullable Difference difference) {
    if (difference == null || corrupt) {
      return;
    }
    LOG.error(
        "state differs from the leader's, this member stops serving and raises the alarm CORRUPT"
            + " member={} index={} digest={} leader-digest={}",
        links.self(),
        difference.index(),
        Long.toHexString(difference.own()),
        Long.toHexString(difference.leaders()));
    differs = true;
    updateCorrupt();
    check();
  }

  /**
   * Once the alarm is active it replaces the detected difference. When an operator disarms it, the
   * next digest decides.
   */
  private void updateCorrupt() {
    boolean alarmed = machine.view().isAlarmed(links.self(), AlarmType.CORRUPT);
    differs &= !alarmed;
    boolean now = differs || alarmed;
    if (now != corrupt) {
      corrupt = now;
      if (!now) {
        LOG.warn("alarm CORRUPT disarmed, this member serves again member={}", links.self());
      } else if (alarmed) {
        LOG.error(
            "alarm CORRUPT is active for this member, it does not serve member={}", links.self());
      }
      links.corrupt().accept(now);
    }
  }
}
