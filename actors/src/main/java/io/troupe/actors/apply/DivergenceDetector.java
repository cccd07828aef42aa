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
 * Notices that this member's state is not the leader's. A leader says what its digest is every
 * {@value #EVERY} entries and with each look; a member whose own is another one stops serving at
 * once and has the alarm CORRUPT raised for itself, again with each look until it is there. While
 * that alarm is active it does not serve, also after a restart. Used by the apply actor alone.
 *
 * @source docs/decisions/0060
 */
final class DivergenceDetector {
  /** Entries between two words of a leader, at most as many more as one batch has. */
  static final int EVERY = 256;

  private static final Logger LOG = LoggerFactory.getLogger(DivergenceDetector.class);

  /**
   * Whom it speaks to.
   *
   * @param self this member
   * @param others sends to all other members; a word may get lost
   * @param propose has an operation proposed; nobody waits for the answer
   * @param corrupt told whether this member must not serve, when that changes
   */
  record Links(
      NodeId self,
      Consumer<PeerPayload.StateDigest> others,
      Consumer<Operation> propose,
      Consumer<Boolean> corrupt) {}

  private final StateMachine machine;
  private final Links links;
  private final DigestCheck check;

  /** In which this member leads; 0 if it does not. */
  private long leadingTerm;

  private boolean differs;
  private boolean corrupt;
  private long saidIndex;

  DivergenceDetector(StateMachine machine, Links links) {
    this.machine = machine;
    this.links = links;
    this.check = new DigestCheck(machine.appliedIndex(), machine.digest());
    this.saidIndex = machine.appliedIndex();
    tell();
  }

  /**
   * This member leads from now on, or does not.
   *
   * @param term in which it leads; 0 if it does not
   */
  void leading(long term) {
    leadingTerm = term;
  }

  /** An entry was applied, the state machine's last. */
  void applied() {
    noted(check.applied(machine.appliedIndex(), machine.digest()));
  }

  /** A batch is written. */
  void committed() {
    if (check.index() - saidIndex >= EVERY) {
      say();
    }
    tell();
  }

  /** Once in a while: for members that missed a word, or join, or have the alarm still to raise. */
  void look() {
    say();
    if (differs) {
      links.propose().accept(new Operation.AlarmActivate(links.self(), AlarmType.CORRUPT));
    }
  }

  /** The leader that this member follows says its digest. */
  void heard(PeerPayload.StateDigest word) {
    noted(check.compare(word.index(), word.digest()));
  }

  private void say() {
    saidIndex = check.index();
    // Whoever knows to be wrong must not accuse others.
    if (leadingTerm != 0 && !corrupt) {
      links
          .others()
          .accept(new PeerPayload.StateDigest(leadingTerm, check.index(), check.digest()));
    }
  }

  private void noted(DigestCheck.@Nullable Difference difference) {
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
    tell();
    look();
  }

  /**
   * The alarm takes over from what was noticed; when an operator ends it, the next word decides.
   */
  private void tell() {
    boolean alarmed = machine.view().isAlarmed(links.self(), AlarmType.CORRUPT);
    differs &= !alarmed;
    boolean now = differs || alarmed;
    if (now != corrupt) {
      corrupt = now;
      if (!now) {
        LOG.warn("alarm CORRUPT was ended, this member serves again member={}", links.self());
      } else if (alarmed) {
        LOG.error(
            "alarm CORRUPT is active for this member, it does not serve member={}", links.self());
      }
      links.corrupt().accept(now);
    }
  }
}
