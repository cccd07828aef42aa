package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.mvcc.HashResult;
import io.troupe.raft.RaftState;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.membership.Membership;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Request;
import io.troupe.version.VersionRules;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A member: its disk, and its process while it runs. */
public final class SimMember {
  private final NodeId id;
  private final SimWorld world;
  private final SimDisk disk = new SimDisk();
  private @Nullable MemberRun run;
  private boolean retired;
  private boolean reopening;
  private boolean reopened;
  private boolean started;
  private int installations;
  private @Nullable SplittableRandom crashInstalling;
  private EtcdVersion program = new EtcdVersion(3, 7, 0);
  private @Nullable ClusterVersions refusedBy;
  private boolean waitsToJoin;

  SimMember(NodeId id, SimWorld world) {
    this.id = id;
    this.world = world;
  }

  /** Id of the member. */
  public NodeId id() {
    return id;
  }

  SimDisk disk() {
    return disk;
  }

  void fill(RaftState bootstrap) {
    disk.fill(bootstrap);
  }

  /** True while its process exists, paused or not. */
  public boolean isUp() {
    return run != null;
  }

  /** True if it was removed from the cluster and has stopped permanently. */
  public boolean isRetired() {
    return retired;
  }

  /** True if its process ever ran. */
  public boolean isStarted() {
    return started;
  }

  /** True if it runs and knows no member: it cannot query any. */
  public boolean isLonely() {
    MemberRun running = run;
    return running != null && running.raft.membership().members().isEmpty();
  }

  /** True while its process is stopped. */
  public boolean isPaused() {
    MemberRun running = run;
    return running != null && running.process.isPaused();
  }

  @Nullable MemberRun run() {
    return run;
  }

  /** True if it considers itself the leader. */
  public boolean leads() {
    MemberRun running = run;
    return running != null && running.leads();
  }

  /** Status of its raft actor, or null while it is down. */
  public @Nullable RaftStatus status() {
    MemberRun running = run;
    return running == null ? null : running.status();
  }

  /** The membership as it applied it; empty while it is down. */
  Membership membership() {
    MemberRun running = run;
    return running == null ? Membership.EMPTY : SimDisk.membership(running.apply.machine());
  }

  /** Starts the process, unless it runs or the member is retired. */
  public void boot() {
    if (run == null && !retired && mayStart()) {
      started = true;
      if (reopening) {
        reopening = false;
        reopened = true;
        installations++;
      }
      MemberRun started = new MemberRun(this, world, world.nextSession());
      if (isRefused(started)) {
        started.process.kill();
        return;
      }
      run = started;
      world.trace().note(id, "starts", started.status());
      started.start();
    }
  }

  /**
   * Before its first start a member asks one that knows it, and both check the version (V2). The
   * first members need no reply.
   */
  private boolean mayStart() {
    if (started
        || !world.settings().versions().change()
        || id.value() <= world.settings().voters()) {
      return true;
    }
    List<SimMember> others =
        world.members().stream()
            .filter(other -> other.isUp() && !other.isPaused() && other.membership().contains(id))
            .toList();
    waitsToJoin = others.isEmpty();
    if (waitsToJoin) {
      return false;
    }
    SimMember asked = others.get(world.splitRandom().nextInt(others.size()));
    ClusterVersions its = Objects.requireNonNull(asked.run()).apply.machine().view().versions();
    String refusal = VersionRules.refuseJoin(program, its);
    refusedBy = refusal == null ? null : its;
    if (refusal != null) {
      world.coverage().count("joins refused because of versions");
      world.trace().note(id, "is refused", refusal);
    }
    return refusal == null;
  }

  /** After the replay of its log, as in the real process (decision 0221). */
  private boolean isRefused(MemberRun starting) {
    ClusterVersions state = starting.apply.machine().view().versions();
    String refusal = VersionRules.refuseState(program, state);
    refusedBy = refusal == null ? null : state;
    if (refusal != null) {
      world.coverage().count("starts refused because of versions");
      world.trace().note(id, "is refused", refusal);
    }
    return refusal != null;
  }

  /** Installs the program of the next start. */
  void install(EtcdVersion next) {
    program = next;
  }

  /** The installed program, by the version that it serves. */
  EtcdVersion program() {
    return program;
  }

  /** Versions of the state that does not permit the program; null if none refused it. */
  @Nullable ClusterVersions refusedBy() {
    return refusedBy;
  }

  /** True if its first start waits for a member that knows it. */
  boolean waitsToJoin() {
    return waitsToJoin && !started;
  }

  /** The process ends because its program is older than the state. */
  void stopsTooOld() {
    MemberRun running = run;
    if (running != null) {
      refusedBy = running.apply.machine().view().versions();
      stop(running);
      disk.crash(Integer.MAX_VALUE, 0, world.coverage());
    }
  }

  /**
   * Crashes the process and loses its unforced writes.
   *
   * @param loseState whether the state directory is lost too
   */
  public void crash(SplittableRandom random, boolean loseState) {
    MemberRun running = run;
    if (running == null) {
      return;
    }
    stop(running);
    int survivors = random.nextInt(3) == 0 ? random.nextInt(4) : 0;
    disk.crash(survivors, random.nextInt(4), world.coverage());
    world.trace().note(id, "crashes", "survivors=" + survivors);
    world.coverage().count("crashes");
    if (loseState) {
      loseState();
    }
  }

  private void loseState() {
    if (disk.loseState()) {
      world.trace().note(id, "loses its state", "");
      world.coverage().count("states lost and restored from a snapshot");
    }
  }

  /** Crashes the process between two steps of an installation of a snapshot, and restarts it. */
  public void crashWhenInstalling(SplittableRandom random) {
    crashInstalling = random;
  }

  /** A step of an installation is done. May crash the process: then the wal actor stops here. */
  void installs() {
    SplittableRandom random = crashInstalling;
    MemberRun running = run;
    if (random == null || running == null || random.nextInt(5) != 0) {
      return;
    }
    crashInstalling = null;
    stop(running);
    disk.crash(random.nextInt(4), random.nextInt(4), world.coverage());
    world.trace().note(id, "crashes", "while it installs a snapshot");
    world.coverage().count("crashes in an installation");
    // The log may not have reached the new snapshot: then an older one must replace the state.
    if (random.nextInt(3) == 0) {
      loseState();
    }
    world.scheduler().after(random.nextInt(800_000), this::boot);
    throw new SimProcess.Killed();
  }

  /** A snapshot replaced log and state: the process recovers from the disk. */
  void reopen() {
    MemberRun running = run;
    if (running != null) {
      stop(running);
      installations++;
      reopening = true;
      world.trace().note(id, "reopens", "");
      world.scheduler().after(1_000 + running.random.nextInt(100_000), this::boot);
    }
  }

  private void stop(MemberRun running) {
    run = null;
    running.process.kill();
    world.rules().versions().stopped(id);
    running.watch.breakStreams();
  }

  /** Stops the member permanently; it has learned of its removal. */
  void retire() {
    MemberRun running = run;
    if (running != null) {
      stop(running);
    }
    retired = true;
  }

  /** Pauses the process; with {@code clock} its clock is paused too. */
  public void pause(boolean clock) {
    MemberRun running = run;
    if (running != null && !running.process.isPaused()) {
      world.trace().note(id, "pauses", clock);
      world.coverage().count("pauses");
      running.process.pause(clock);
    }
  }

  /** Resumes the process. */
  public void resume() {
    MemberRun running = run;
    if (running != null && running.process.isPaused()) {
      world.trace().note(id, "resumes", "");
      running.process.resume();
    }
  }

  /** Makes the next write hang for this long. */
  public void stallDisk(long us) {
    MemberRun running = run;
    if (running != null) {
      world.coverage().count("disk stalls");
      running.wal.stall(us);
    }
  }

  /** Ends all faults of this member. */
  void relieve() {
    crashInstalling = null;
    resume();
    MemberRun running = run;
    if (running != null) {
      running.wal.stall(0);
      running.raft.slowTicks(0);
    }
  }

  /** Delays ticks by this much from now on. */
  public void slowTicks(long extraUs) {
    MemberRun running = run;
    if (running != null) {
      running.raft.slowTicks(extraUs);
    }
  }

  /** Requests the transfer of leadership to another member. */
  public void transferLeadership(NodeId to) {
    MemberRun running = run;
    if (running != null) {
      running.raft.transferLeadership(to);
    }
  }

  /** Requests the transfer of leadership to any other member. */
  public void handOver() {
    MemberRun running = run;
    if (running != null) {
      running.raft.handOver();
    }
  }

  void receiveDigest(NodeId from, long term, long index, long digest) {
    MemberRun running = run;
    if (running != null) {
      running.fromPeerDigest(from, term, index, digest);
    }
  }

  /** True if it runs and does not serve, because its state is not the leader's. */
  public boolean isCorrupt() {
    MemberRun running = run;
    return running != null && running.apply.isCorrupt();
  }

  /** Members whose alarm CORRUPT is active, as this one has it. */
  public List<NodeId> corruptMembers() {
    MemberRun running = run;
    return running == null
        ? List.of()
        : running.apply.machine().view().alarms().stream()
            .filter(alarm -> alarm.type() == AlarmType.CORRUPT)
            .map(AlarmMember::member)
            .toList();
  }

  /** Damages the newest records of all keys. Returns false if there are none just now. */
  public boolean damage() {
    MemberRun running = run;
    if (running == null || !running.apply.damage(DigestStore::flipValues)) {
      return false;
    }
    world.rules().damaged(id);
    world.trace().note(id, "is damaged", "");
    return true;
  }

  void installedSnapshot() {
    installations++;
  }

  /** True while a snapshot replaces its log and state: it refuses requests. */
  public boolean isInstalling() {
    MemberRun running = run;
    return running == null ? reopening : running.raft.isInstalling();
  }

  /**
   * Counts the steps of installations of snapshots. A caller that waits for an entry in a snapshot
   * gets no result, because the snapshot does not contain it.
   */
  public int installations() {
    return installations;
  }

  /**
   * As {@link #installations}, for a call that begins now; -1 if an installation has restarted this
   * member and it does not know a leader yet.
   */
  public int installationsBefore() {
    MemberRun running = run;
    reopened &= running == null || running.status().leader().isNone();
    return reopened ? -1 : installations;
  }

  // ---- for clients

  /** Number of the run of its process; 0 while it is down. */
  public long session() {
    MemberRun running = run;
    return running == null ? 0 : running.session;
  }

  /** Receives a client's request. The network returns the outcome, unless it is lost. */
  void request(Request request, Consumer<Answer> reply) {
    Consumer<Answer> client =
        outcome -> world.network().fromOrToClient(() -> reply.accept(outcome));
    MemberRun running = run;
    if (running != null) {
      running.request(request, client);
    } else if (reopening) {
      client.accept(new Answer.Refused(Refusal.NO_LEADER));
    }
  }

  /** Opens a watch stream for a client; null while the member is down. */
  public @Nullable WatchStream openWatch(WatchSink sink) {
    MemberRun running = run;
    return running == null ? null : running.watch.open(sink);
  }

  /** Revision of the state as this member has it; 0 while it is down. */
  public long revision() {
    MemberRun running = run;
    return running == null ? 0 : running.apply.machine().reader().view().revision();
  }

  // ---- for the end of a run

  /** Number of granted leases as this member has it; 0 while it is down. */
  public int leaseCount() {
    MemberRun running = run;
    return running == null ? 0 : running.apply.machine().reader().leases().size();
  }

  /** True if it has applied every entry that any member applied, and no compaction is pending. */
  public boolean isAtEnd() {
    MemberRun running = run;
    return running != null
        && running.apply.machine().view().appliedIndex() == world.lastApplied()
        && running.compaction.isDone();
  }

  /**
   * Checks that nothing holds memory of clients or events longer than it needs it.
   *
   * @throws io.troupe.simulation.check.Violation if something does
   */
  public void checkMemory() {
    MemberRun running = run;
    if (running != null && !running.process.isPaused()) {
      running.memory.checkReleased();
      require(running.backlog.bytes() == 0, "events are lost", id, running.backlog.bytes());
    }
  }

  /** The hash of its keys with their history; 0 while it is down. */
  public int contentHash() {
    MemberRun running = run;
    return running != null
            && running.apply.machine().reader().hash(0) instanceof HashResult.Hash hash
        ? hash.hash()
        : 0;
  }
}
