package io.troupe.simulation.world;

import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.SnapshotMark;
import io.troupe.snapshot.LogExtent;
import io.troupe.snapshot.LogRetention;
import io.troupe.snapshot.SnapshotCore;
import io.troupe.snapshot.SnapshotEffects;
import io.troupe.snapshot.SnapshotRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs {@link SnapshotCore} on the simulated disk, which is nearly full at times. */
final class SimSnapshotActor implements SnapshotEffects<SimDisk.Snapshot> {
  private static final long CHECK_US = 200_000;

  private record Position(long index, long term) {}

  private final MemberRun run;
  private final SimActor actor;
  private final SnapshotCore<SimDisk.Snapshot> core;
  private final Map<Position, DigestStore> arrived = new HashMap<>();
  private boolean low;

  SimSnapshotActor(MemberRun run) {
    this.run = run;
    this.actor = run.actor();
    this.core = new SnapshotCore<>(run.world.settings().snapshots(), this);
  }

  void start() {
    core.start();
    run.process.after(run.random.nextLong(CHECK_US), this::checkInterval);
    run.process.after(run.random.nextLong(1_000_000), this::diskInterval);
  }

  private void checkInterval() {
    actor.tell(core::check);
    run.process.after(CHECK_US, this::checkInterval);
  }

  private void diskInterval() {
    boolean faults = run.world.scheduler().nowUs() < run.world.settings().faultsUs();
    low = faults && run.world.settings().fullDisks() && !low && run.random.nextInt(5) == 0;
    run.world.coverage().count("disks that were nearly full", low ? 1 : 0);
    run.process.after(300_000 + run.random.nextInt(1_000_000), this::diskInterval);
  }

  // ---- messages

  /** The apply actor reports that a snapshot is due. */
  void due(long index) {
    actor.tell(() -> core.due(index));
  }

  /** Compacted versions were removed. */
  void reclaim() {
    actor.tell(core::reclaim);
  }

  /** Sends a snapshot to another member and reports the result to the raft actor. */
  void send(SnapshotRequest request) {
    actor.tell(() -> core.send(request));
  }

  void replicated(@Nullable ReplicationStatus status) {
    actor.tell(() -> core.replicated(status));
  }

  /** The whole content arrived from another member. */
  void receive(NodeId from, long term, SimDisk.Snapshot snapshot) {
    SnapshotMark mark = snapshot.mark();
    run.disk.receive(snapshot);
    arrived.put(new Position(mark.index(), mark.term()), snapshot.content());
    run.raft.snapshotArrived(from, new PeerMessage.InstallSnapshot(term, mark));
  }

  /** Returns the content that arrived with a mark. */
  DigestStore arrived(SnapshotMark mark) {
    DigestStore content = arrived.get(new Position(mark.index(), mark.term()));
    if (content == null) {
      throw new Invariant.Broken("a snapshot is installed that never arrived: " + mark);
    }
    arrived.clear();
    return content;
  }

  // ---- reads

  @Override
  public long appliedIndex() {
    return run.apply.machine().view().appliedIndex();
  }

  @Override
  public LogExtent log() {
    return run.disk.extent(run.world.settings().segmentEntries());
  }

  @Override
  public boolean isDiskLow() {
    return low;
  }

  @Override
  public boolean fits() {
    return !low || run.random.nextInt(3) > 0;
  }

  @Override
  public Optional<List<Long>> indexes() {
    return unreadable() ? Optional.empty() : Optional.of(run.disk.snapshotIndexes());
  }

  @Override
  public Optional<Long> newestIndex(long index) {
    return unreadable() ? Optional.empty() : Optional.of(run.disk.newestSnapshot(index));
  }

  @Override
  public SimDisk.@Nullable Snapshot latest() {
    return unreadable() ? null : run.disk.latestSnapshot();
  }

  private boolean unreadable() {
    return run.random.nextInt(50) == 0;
  }

  @Override
  public long indexOf(SimDisk.Snapshot snapshot) {
    return snapshot.mark().index();
  }

  @Override
  public boolean holdsRewrittenFiles(long index) {
    return run.random.nextInt(4) == 0;
  }

  // ---- effects

  @Override
  public void take(long index) {
    SnapshotMark mark =
        new SnapshotMark(
            run.apply.machine().view().appliedIndex(),
            run.apply.machine().view().appliedTerm(),
            SimDisk.membership(run.apply.machine()));
    SimDisk.Snapshot snapshot = new SimDisk.Snapshot(mark, run.apply.copyState());
    boolean fails = low && run.random.nextInt(4) == 0;
    run.process.after(
        1_000 + run.random.nextInt(200_000),
        () -> {
          if (fails) {
            run.world.coverage().count("snapshots that could not be saved");
            actor.tell(core::saveFailed);
          } else {
            run.disk.save(snapshot);
            run.world.coverage().count("snapshots taken");
            actor.tell(() -> core.saved(mark.index()));
          }
        });
  }

  @Override
  public void startInterval() {
    run.process.after(
        100_000 + run.random.nextInt(900_000), () -> actor.tell(core::intervalElapsed));
  }

  @Override
  public void deleteOlder(long index) {
    run.process.after(
        run.random.nextInt(50_000),
        () -> {
          run.disk.deleteSnapshotsBefore(index);
          actor.tell(() -> core.olderDeleted(index, true));
        });
  }

  @Override
  public void proposeEmptyEntry() {
    run.raft.proposeEmptyEntry(() -> actor.tell(core::proposed));
  }

  @Override
  public void transfer(SnapshotRequest request, SimDisk.Snapshot snapshot) {
    run.world.coverage().count("snapshots sent");
    NodeId to = request.to();
    run.process.after(
        2_000 + run.random.nextInt(300_000),
        () -> {
          boolean ok = run.world.deliverSnapshot(run.id, to, request.term(), snapshot);
          run.world.trace().note(run.id, "sent snapshot to " + to, snapshot.mark());
          run.raft.snapshotSent(to, request.transfer(), snapshot.mark().index(), ok);
          actor.tell(() -> core.transferEnded(to, request.transfer(), ok));
        });
  }

  /** Snapshots arrive whole here. */
  @Override
  public void discardReceived(long applied, boolean all) {}

  @Override
  public void queryReplication() {
    run.raft.queryReplication();
  }

  @Override
  public void release(long index) {
    run.raft.snapshotTaken(index);
    run.wal.dropUpTo(index);
  }

  @Override
  public void retained(LogRetention.Retained retained) {
    run.world.coverage().count("log kept for receivers", retained.receivers() > 0 ? 1 : 0);
  }

  @Override
  public void receiverLost(NodeId receiver, long index, long bytes) {
    run.world.coverage().count("receivers that lost their log to the limit");
  }

  @Override
  public void receiverLostOnFullDisk(NodeId receiver, long index) {
    run.world.coverage().count("receivers that lost their log to a full disk");
  }
}
