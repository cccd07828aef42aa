package io.troupe.simulation.world;

import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.SnapshotMark;
import java.util.HashMap;
import java.util.Map;

/** Takes snapshots so that the log can be released, and sends them to members that lag far. */
final class SimSnapshotActor {
  /** How long the log is kept for a member that receives a snapshot. */
  private static final long RETAIN_US = 2_000_000;

  private record Position(long index, long term) {}

  private final MemberRun run;
  private final Map<Position, DigestStore> arrived = new HashMap<>();
  private final SimActor actor;
  private boolean taking;
  private boolean waiting;
  private long retainedIndex;
  private long retainedUntilUs;

  SimSnapshotActor(MemberRun run) {
    this.run = run;
    this.actor = run.actor();
  }

  /** The apply actor reports that a snapshot is due. */
  void due() {
    actor.tell(this::take);
  }

  /** Takes one snapshot at a time; one that becomes due meanwhile waits. */
  private void take() {
    if (taking) {
      waiting = true;
      return;
    }
    taking = true;
    waiting = false;
    SnapshotMark mark =
        new SnapshotMark(
            run.apply.machine().view().appliedIndex(),
            run.apply.machine().view().appliedTerm(),
            SimDisk.membership(run.apply.machine()));
    SimDisk.Snapshot snapshot = new SimDisk.Snapshot(mark, run.apply.copyState());
    run.process.after(
        1_000 + run.random.nextInt(200_000),
        () -> {
          taking = false;
          if (waiting) {
            actor.tell(this::take);
          }
          run.disk.save(snapshot);
          run.world.coverage().count("snapshots taken");
          long upTo = mark.index() - run.world.settings().keepEntries();
          if (run.world.scheduler().nowUs() < retainedUntilUs) {
            upTo = Math.min(upTo, retainedIndex);
          }
          if (upTo > 0) {
            run.disk.compact(upTo);
            run.raft.snapshotTaken(upTo);
          }
        });
  }

  /** Sends a snapshot to another member and reports the result to the raft actor. */
  void send(NodeId to, long transfer, long term, long atLeast) {
    actor.tell(() -> trySend(to, transfer, term, atLeast));
  }

  private void trySend(NodeId to, long transfer, long term, long atLeast) {
    SimDisk.Snapshot snapshot = run.disk.snapshot();
    if (snapshot == null || snapshot.mark().index() < atLeast) {
      if (run.apply.machine().view().appliedIndex() >= atLeast) {
        take();
      }
      run.process.after(20_000, () -> send(to, transfer, term, atLeast));
      return;
    }
    run.world.coverage().count("snapshots sent");
    // The receiver needs the entries after the snapshot.
    long now = run.world.scheduler().nowUs();
    retainedIndex =
        now < retainedUntilUs
            ? Math.min(retainedIndex, snapshot.mark().index())
            : snapshot.mark().index();
    retainedUntilUs = now + RETAIN_US;
    run.process.after(
        2_000 + run.random.nextInt(300_000),
        () -> {
          boolean ok = run.world.deliverSnapshot(run.id, to, term, snapshot);
          run.world.trace().note(run.id, "sent snapshot to " + to, snapshot.mark());
          run.raft.snapshotSent(to, transfer, snapshot.mark().index(), ok);
        });
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
}
