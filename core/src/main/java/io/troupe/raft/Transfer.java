package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;

/**
 * A leader's handing over to another voter: it takes no proposals, brings the target to the end of
 * the log, and asks it to stand for election at once. After an election timeout it continues leading.
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

  /** True while proposals are to be refused. */
  boolean isActive() {
    return !target.isNone();
  }

  /** Begins, and ends another one; does nothing if {@code to} leads or is being passed on to. */
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

  /** A follower has more of the log than before. */
  void heard(NodeId from) {
    if (from.equals(target)) {
      proceed();
    }
  }

  /** Asks the target to stand if it has everything; ends if it may not stand any more. */
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
