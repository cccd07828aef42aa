package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.mvcc.CompactionCore;
import io.troupe.mvcc.Compactor;
import io.troupe.mvcc.HashResult;
import io.troupe.mvcc.MvccReader;

/** Runs {@link CompactionCore}, and checks the hashes. */
final class SimCompactionActor implements CompactionCore.Effects<Long> {
  private final MemberRun run;
  private final Compactor compactor;
  private final MvccReader reader;
  private final SimActor actor;
  private final CompactionCore<Long> core;
  private long finishedRevision;
  private int waiting;
  private int passes;
  private int hashes;

  /** The last compaction that was applied in this run; 0 before the first. */
  private long newest;

  /** The last compaction that the core knows of; -1 before the first. */
  private long known = -1;

  SimCompactionActor(MemberRun run, Compactor compactor, MvccReader reader) {
    this.run = run;
    this.compactor = compactor;
    this.reader = reader;
    this.actor = run.actor();
    this.core = new CompactionCore<>(this);
  }

  void start() {
    actor.tell(core::start);
  }

  /** A compaction was applied. Some callers wait for its removal. */
  void moved(long revision) {
    newest = revision;
    boolean awaited = run.random.nextInt(3) == 0;
    waiting += awaited ? 1 : 0;
    if (awaited && run.random.nextBoolean()) {
      actor.tell(() -> core.await(revision, revision));
      actor.tell(() -> know(revision));
    } else {
      actor.tell(() -> know(revision));
      if (awaited) {
        actor.tell(() -> core.await(revision, revision));
      }
    }
  }

  private void know(long revision) {
    known = revision;
    core.moved();
  }

  /** True if no compacted version remains, and the newest compaction has its hash. */
  boolean isDone() {
    return waiting == 0
        && passes == 0
        && hashes == 0
        && finishedRevision >= reader.view().compactedRevision()
        && (newest == 0
            || reader.compactionHashes().stream().anyMatch(hash -> hash.hashRevision() == newest));
  }

  // ---- effects

  @Override
  public void startPass(boolean first) {
    passes++;
    run.process.after(
        run.random.nextInt(20_000),
        () -> {
          Compactor.Progress progress = compactor.removeBatch(1 + run.random.nextInt(100));
          run.world.coverage().count("versions removed by compaction", progress.removed());
          run.process.after(
              run.random.nextInt(20_000),
              () ->
                  actor.tell(
                      () -> {
                        passes--;
                        finishedRevision = progress.finishedRevision();
                        core.passed(progress);
                        require(
                            passes > 0 || finishedRevision >= known,
                            "a compaction is forgotten",
                            run.id,
                            known,
                            progress);
                      }));
        });
  }

  @Override
  public void startHash() {
    hashes++;
    run.process.after(
        run.random.nextInt(20_000),
        () -> {
          HashResult.Hash hash = reader.hashCompaction();
          if (hash != null) {
            run.world.rules().compactionHash(run.id, hash);
          }
          run.process.after(
              run.random.nextInt(20_000),
              () ->
                  actor.tell(
                      () -> {
                        hashes--;
                        core.hashed();
                      }));
        });
  }

  @Override
  public void removed(Long revision) {
    require(finishedRevision >= revision, "removal reported too early", run.id, revision);
    run.world.coverage().count("removals awaited");
    waiting--;
  }

  /** The real process asks for a snapshot that frees space. */
  @Override
  public void finished(long revision) {}

  @Override
  public void report(long revision, long removed) {
    run.world.coverage().count("removals reported");
  }
}
