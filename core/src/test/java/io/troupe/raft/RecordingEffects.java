package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Records every effect, in order. */
final class RecordingEffects implements RaftEffects {
  sealed interface Effect {}

  record Persist(HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist)
      implements Effect {}

  record Send(NodeId to, PeerMessage message) implements Effect {}

  record Apply(List<Entry> committed) implements Effect {}

  record ReleaseRead(long readId, long readIndex) implements Effect {}

  record RejectRead(long readId, Refusal reason) implements Effect {}

  record Reject(RequestId id, Refusal reason) implements Effect {}

  record RoleChanged(RaftRole role, long term, NodeId leader) implements Effect {}

  record Install(
      HardState before, HardState state, SnapshotMark mark, List<Outgoing> messagesAfterPersist)
      implements Effect {}

  record SendSnapshot(NodeId to, long transfer, long term, long atLeast) implements Effect {}

  record ReadLog(NodeId to, long from, long until, long maxBytes) implements Effect {}

  record TransferRefused(NodeId to, Refusal reason) implements Effect {}

  record MembershipChanged(Membership membership) implements Effect {}

  record Removed() implements Effect {}

  private record PendingWrite(long number, long term, long lastIndex) {}

  private final ArrayDeque<PendingWrite> pendingWrites = new ArrayDeque<>();
  private final List<Effect> effects = new ArrayList<>();

  /**
   * Number of the oldest pending write of that term whose last entry has that index; 0 for a write
   * without entries. It and all before it count as completed.
   */
  long complete(long term, long lastIndex) {
    PendingWrite write;
    do {
      write = pendingWrites.removeFirst();
    } while (write.term() != term || write.lastIndex() != lastIndex);
    return write.number();
  }

  /**
   * Number of the newest write, which counts as completed with all before it; 0 if none is pending.
   */
  long completeAll() {
    long number = pendingWrites.isEmpty() ? 0 : pendingWrites.getLast().number();
    pendingWrites.clear();
    return number;
  }

  /** All effects since the last call. */
  List<Effect> take() {
    List<Effect> taken = List.copyOf(effects);
    effects.clear();
    return taken;
  }

  /** As {@link #take}, only those of one kind. */
  <T extends Effect> List<T> take(Class<T> kind) {
    return take().stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  @Override
  public void persist(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
    long last = entries.isEmpty() ? 0 : entries.get(entries.size() - 1).index();
    pendingWrites.addLast(new PendingWrite(number, state.term(), last));
    effects.add(new Persist(state, entries, messagesAfterPersist));
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    effects.add(new Send(to, message));
  }

  @Override
  public void apply(List<Entry> committed) {
    effects.add(new Apply(committed));
  }

  @Override
  public void releaseRead(long readId, long readIndex) {
    effects.add(new ReleaseRead(readId, readIndex));
  }

  @Override
  public void rejectRead(long readId, Refusal reason) {
    effects.add(new RejectRead(readId, reason));
  }

  @Override
  public void reject(RequestId id, Refusal reason) {
    effects.add(new Reject(id, reason));
  }

  @Override
  public void roleChanged(RaftStatus status) {
    effects.add(new RoleChanged(status.role(), status.term(), status.leader()));
  }

  @Override
  public void installSnapshot(
      long number,
      HardState before,
      HardState state,
      SnapshotMark mark,
      List<Outgoing> messagesAfterPersist) {
    pendingWrites.addLast(new PendingWrite(number, state.term(), mark.index()));
    effects.add(new Install(before, state, mark, messagesAfterPersist));
  }

  @Override
  public void sendSnapshot(NodeId to, long transfer, long term, long atLeast) {
    effects.add(new SendSnapshot(to, transfer, term, atLeast));
  }

  @Override
  public void readLog(NodeId to, long from, long until, long maxBytes) {
    effects.add(new ReadLog(to, from, until, maxBytes));
  }

  @Override
  public void transferRefused(NodeId to, Refusal reason) {
    effects.add(new TransferRefused(to, reason));
  }

  @Override
  public void membershipChanged(Membership membership) {
    effects.add(new MembershipChanged(membership));
  }

  @Override
  public void removed() {
    effects.add(new Removed());
  }
}
