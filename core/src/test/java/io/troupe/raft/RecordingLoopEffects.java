package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
import java.util.ArrayList;
import java.util.List;

/** Records every effect as text, in order. Its clock shows what the test sets. */
final class RecordingLoopEffects implements RaftLoopEffects<String, String, String> {
  private final List<String> effects = new ArrayList<>();
  long nanos = 1_000_000;

  /** Number of the newest write. */
  long written;

  /** Context of the newest round of heartbeats. */
  long context;

  /** All effects since the last call. */
  List<String> take() {
    List<String> taken = List.copyOf(effects);
    effects.clear();
    return taken;
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public void flushLater() {
    effects.add("flush later");
  }

  @Override
  public void flushDelayedAppendsLater() {
    effects.add("flush delayed appends later");
  }

  @Override
  public void paused(long idleNanos) {
    effects.add("paused " + idleNanos);
  }

  @Override
  public void status(RaftStatus status) {
    effects.add("status " + status.role() + " " + status.term());
  }

  @Override
  public void leading(boolean leads, long term) {
    effects.add((leads ? "leads " : "stopped leading ") + term);
  }

  @Override
  public void snapshotDropped(NodeId from) {
    effects.add("snapshot dropped from " + from);
  }

  @Override
  public void expect(List<String> callers, long term) {
    effects.add("expect " + callers + " " + term);
  }

  @Override
  public void proposalRefused(String caller, Refusal reason) {
    effects.add("proposal refused " + caller + " " + reason);
  }

  @Override
  public void readReady(String reader, long index) {
    effects.add("read ready " + reader + " " + index);
  }

  @Override
  public void awaitApplied(String reader, long index) {
    effects.add("await applied " + reader + " " + index);
  }

  @Override
  public void readFailed(String reader, Refusal reason) {
    effects.add("read failed " + reader + " " + reason);
  }

  @Override
  public void transferDone(String caller) {
    effects.add("transfer done " + caller);
  }

  @Override
  public void transferFailed(String caller, Refusal reason) {
    effects.add("transfer failed " + caller + " " + reason);
  }

  @Override
  public void persist(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
    written = number;
    effects.add("persist " + entries.stream().map(Entry::index).toList());
  }

  @Override
  public void installSnapshot(
      long number,
      HardState before,
      HardState state,
      SnapshotMark mark,
      List<Outgoing> messagesAfterPersist) {
    effects.add("install " + mark.index());
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    if (message instanceof PeerMessage.Heartbeat heartbeat) {
      context = heartbeat.readContext();
    }
    effects.add("send " + message.getClass().getSimpleName() + " to " + to);
  }

  @Override
  public void apply(List<Entry> committed) {
    effects.add("apply " + committed.stream().map(Entry::index).toList());
  }

  @Override
  public void reject(RequestId id, Refusal reason) {
    effects.add("reject " + id.value() + " " + reason);
  }

  @Override
  public void sendSnapshot(NodeId to, long transfer, long term, long atLeast) {
    effects.add("send snapshot to " + to);
  }

  @Override
  public void readLog(NodeId to, long from, long until, long maxBytes) {
    effects.add("read log for " + to);
  }

  @Override
  public void transferRefused(NodeId to, Refusal reason) {
    effects.add("transfer refused to " + to + " " + reason);
  }

  @Override
  public void membershipChanged(Membership membership) {
    effects.add("membership changed");
  }

  @Override
  public void removed() {
    effects.add("removed");
  }

  @Override
  public void roleChanged(RaftStatus status) {
    effects.add("role changed " + status.role() + " " + status.term());
  }
}
