package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
import java.util.List;

/** Passes the effects of a core on that its caller does not handle. */
abstract class ForwardingEffects implements RaftEffects {
  private final RaftActorEffects to;

  ForwardingEffects(RaftActorEffects to) {
    this.to = to;
  }

  @Override
  public void persist(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
    to.persist(number, state, entries, messagesAfterPersist);
  }

  @Override
  public void installSnapshot(
      long number,
      HardState before,
      HardState state,
      SnapshotMark mark,
      List<Outgoing> messagesAfterPersist) {
    to.installSnapshot(number, before, state, mark, messagesAfterPersist);
  }

  @Override
  public void send(NodeId member, PeerMessage message) {
    to.send(member, message);
  }

  @Override
  public void apply(List<Entry> committed) {
    to.apply(committed);
  }

  @Override
  public void reject(RequestId id, Refusal reason) {
    to.reject(id, reason);
  }

  @Override
  public void sendSnapshot(NodeId member, long transfer, long term, long atLeast) {
    to.sendSnapshot(member, transfer, term, atLeast);
  }

  @Override
  public void readLog(NodeId member, long from, long until, long maxBytes) {
    to.readLog(member, from, until, maxBytes);
  }

  @Override
  public void transferRefused(NodeId member, Refusal reason) {
    to.transferRefused(member, reason);
  }

  @Override
  public void membershipChanged(Membership membership) {
    to.membershipChanged(membership);
  }

  @Override
  public void removed() {
    to.removed();
  }

  @Override
  public void roleChanged(RaftStatus status) {
    to.roleChanged(status);
  }
}
