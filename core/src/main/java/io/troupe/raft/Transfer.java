package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;

/**
 * A leader's transfer of leadership to another voter: it accepts no proposals, replicates to the
 * target until the end of the log, and requests that it starts an election. After an election
 * timeout it continues to lead.
 *
 * @source Raft dissertation 3.10
 */
final class Transfer {
  private final RaftCore core;
  private final Replication replication;
  private NodeId target = NodeId.NONE;
  private int ticks;

  Transfer(RaftCore core, Replication replication) {
    this.core = core;
    this.replication = replication;
  }

  /** True while proposals must be refused. */
  boolean isActive() {
    return !target.isNone();
  }

  /**
   * Starts a transfer and stops an earlier one; does nothing if {@code to} leads or is already the
   * target.
   */
  void start(NodeId to) {
    if (to.equals(core.self) || to.equals(target)) {
      return;
    }
    if (!isPossible(to)) {
      core.effects.transferRefused(to, Refusal.BAD_LEADER_TRANSFEREE);
      return;
    }
    end(Refusal.TIMED_OUT);
    target = to;
    ticks = 0;
    Progress progress = replication.of(to);
    if (progress != null) {
      replication.sendAppends(to, progress);
    }
    proceed();
  }

  private boolean isPossible(NodeId to) {
    return core.conf.membership().voters().contains(to) && replication.of(to) != null;
  }

  void tick() {
    if (!isActive()) {
      return;
    }
    if (++ticks >= core.settings.electionTicks()) {
      end(Refusal.TIMED_OUT);
    } else if (ticks % core.settings.heartbeatTicks() == 0) {
      // The request may be lost.
      proceed();
    }
  }

  /** The log of a follower advanced. */
  void heard(NodeId from) {
    if (from.equals(target)) {
      proceed();
    }
  }

  /**
   * Requests the election if the target has everything; stops if the target may not lead any more.
   */
  void proceed() {
    if (!isActive()) {
      return;
    }
    Progress progress = replication.of(target);
    if (progress == null || !isPossible(target)) {
      end(Refusal.BAD_LEADER_TRANSFEREE);
    } else if (progress.match() == core.log.lastIndex()) {
      core.effects.send(target, new PeerMessage.TimeoutNow(core.term()));
    }
  }

  private void end(Refusal reason) {
    if (isActive()) {
      core.effects.transferRefused(target, reason);
      target = NodeId.NONE;
    }
  }
}
