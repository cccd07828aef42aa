package io.troupe.simulation;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.simulation.check.HistoryChecks;
import io.troupe.simulation.check.LinearizabilityCheck;
import io.troupe.simulation.check.WatchCheck;
import io.troupe.simulation.client.CompactingClient;
import io.troupe.simulation.client.LeaseOwner;
import io.troupe.simulation.client.SimClient;
import io.troupe.simulation.client.WatchingClient;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.world.Coverage;
import io.troupe.simulation.world.Faults;
import io.troupe.simulation.world.SimMember;
import io.troupe.simulation.world.SimSettings;
import io.troupe.simulation.world.SimWorld;
import io.troupe.simulation.world.Upgrades;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Runs one seed: a cluster with clients under faults, then without faults until the cluster has
 * recovered, then all checks of the recorded history.
 */
public final class Simulation {
  private static final long SECOND = 1_000_000;
  private static final int LINES = 60;

  private final long seed;
  private final SimWorld world;
  private final Faults faults;
  private final Upgrades upgrades;
  private final List<SimClient> clients = new ArrayList<>();
  private final List<LeaseOwner> owners = new ArrayList<>();
  private final List<WatchingClient> watching = new ArrayList<>();
  private final CompactingClient compacting;
  private int probes;
  private int goodProbes;
  private int busyProbes;
  private final List<Call> badProbes = new ArrayList<>();

  /**
   * Result of a seed.
   *
   * @param traceHash equal for equal runs, if it was requested
   * @param virtualUs virtual time that passed
   * @param coverage counted events
   */
  public record Outcome(long traceHash, long virtualUs, Coverage coverage) {}

  /** A rule was violated. The message has the seed, the violation and the last events. */
  public static final class Failure extends AssertionError {
    private static final long serialVersionUID = 1L;

    Failure(String what, Throwable cause) {
      super(what, cause);
    }
  }

  private Simulation(long seed, int faultSeconds, boolean hashing) {
    this.seed = seed;
    SplittableRandom random = new SplittableRandom(seed);
    SimSettings settings = SimSettings.draw(random.split(), faultSeconds);
    this.world = new SimWorld(settings, random.split(), hashing);
    this.world.start();
    for (int i = 0; i < settings.clients(); i++) {
      clients.add(new SimClient(world, random.split(), "c" + i));
    }
    for (int i = 0; i < settings.leaseOwners(); i++) {
      owners.add(new LeaseOwner(world, random.split(), "l" + i));
    }
    for (int i = 0; i < settings.watchers(); i++) {
      watching.add(new WatchingClient(world, random.split(), i == 0));
    }
    this.compacting = new CompactingClient(world, random.split());
    this.faults = new Faults(world, random.split());
    this.upgrades = new Upgrades(world, random.split());
  }

  /**
   * Runs a seed.
   *
   * @param faultSeconds virtual seconds with faults
   * @param hashing whether to compute the hash of the outcome
   * @throws Failure if a rule was violated
   */
  public static Outcome run(long seed, int faultSeconds, boolean hashing) {
    Simulation simulation = new Simulation(seed, faultSeconds, hashing);
    try {
      simulation.run();
    } catch (RuntimeException e) {
      throw simulation.failure(e);
    }
    return new Outcome(
        simulation.world.trace().hash(),
        simulation.world.scheduler().nowUs(),
        simulation.world.coverage());
  }

  private Failure failure(RuntimeException cause) {
    return new Failure(
        "seed="
            + seed
            + " at "
            + world.scheduler().nowUs() / 1000
            + " ms: "
            + cause
            + "\n"
            + world.settings()
            + "\nlast events:\n  "
            + String.join("\n  ", world.trace().last(LINES)),
        cause);
  }

  private void run() {
    clients.forEach(SimClient::start);
    owners.forEach(LeaseOwner::start);
    watching.forEach(WatchingClient::start);
    compacting.start();
    faults.start();
    upgrades.start();
    pass(world.settings().faultsUs());
    faults.stop();
    upgrades.finish();
    await("one version of all members", 60, upgrades::isSettled);
    recover();
    check();
  }

  private void pass(long us) {
    world.scheduler().runUntil(world.scheduler().nowUs() + us);
  }

  private interface Condition {
    boolean holds();
  }

  /** Advances time until the condition holds. Fails after {@code seconds}. */
  private void await(String what, int seconds, Condition condition) {
    for (int i = 0; i < seconds * 10; i++) {
      if (condition.holds()) {
        return;
      }
      pass(SECOND / 10);
    }
    List<String> status = new ArrayList<>();
    for (SimMember member : world.members()) {
      status.add(member.id() + (member.isRetired() ? " retired" : " " + member.status()));
    }
    require(
        false,
        "no progress without faults: " + what,
        status,
        world.membership(),
        upgrades.status());
  }

  /** There are no further faults: the cluster must recover within bounded time. */
  private void recover() {
    await("a leader", 15, () -> world.leader() != null);
    // A write that already hangs continues to hang for some seconds and may cost one more election.
    pass(8 * SECOND);
    await("a settled membership", 15, () -> world.membership().isTransitionComplete());
    probeUnderLoad();
    clients.forEach(SimClient::stop);
    owners.forEach(LeaseOwner::stop);
    compacting.stop();
    watching.forEach(WatchingClient::settle);
    await("all calls are finished", 10, this::isQuiet);
    // A slow disk may not have completed entries that a majority has acknowledged, and some
    // settings leave little space for more.
    pass(SECOND / 10);
    for (NodeId id : world.membership().voters()) {
      probes++;
      int installations = world.member(id).installationsBefore();
      clients
          .get(0)
          .probe(
              world.member(id),
              probe -> {
                if (probe.answer() instanceof Answer.Done || isExcused(probe, id, installations)) {
                  goodProbes++;
                } else {
                  badProbes.add(probe);
                }
              });
      pass(SECOND / 2);
    }
    pass(9 * SECOND);
    require(probes == goodProbes, "calls fail without faults", probes, badProbes);
    require(busyProbes == 0, "calls are still open", busyProbes);
    await("no lease is left", 20, this::haveLeasesEnded);
    await("all members are equal", 15, this::areMembersEqual);
    pass(4 * SECOND);
    require(areMembersEqual(), "members do not stay equal");
    world.members().forEach(SimMember::checkMemory);
    for (SimMember member : world.members()) {
      boolean gone = world.membership().removed().contains(member.id());
      require(
          !gone || !member.isStarted() || member.isRetired() || member.isLonely(),
          "a removed member did not learn of its removal",
          member.id());
    }
  }

  /**
   * While clients run, a write may be refused because too many are pending, but it may not be lost.
   */
  private void probeUnderLoad() {
    for (int round = 0; round < 10; round++) {
      for (NodeId id : world.membership().voters()) {
        busyProbes++;
        int installations = world.member(id).installationsBefore();
        clients
            .get(0)
            .probe(
                world.member(id),
                probe -> {
                  busyProbes--;
                  boolean full =
                      probe.answer() instanceof Answer.Refused refused
                          && refused.reason() == Refusal.TOO_MANY_REQUESTS;
                  require(
                      full
                          || probe.answer() instanceof Answer.Done
                          || isExcused(probe, id, installations),
                      "a call fails without faults",
                      probe);
                });
        pass(SECOND / 100);
      }
    }
  }

  /**
   * Returns true if the entry arrived in a snapshot: then the member cannot know the result of the
   * request. While it installs the snapshot, and until it knows the leader again, it refuses
   * requests; the gateway of a real member waits then.
   */
  private boolean isExcused(Call probe, NodeId member, int installations) {
    boolean excused =
        (probe.answer() instanceof Answer.Unknown
                || probe.answer().equals(new Answer.Refused(Refusal.NO_LEADER)))
            && (world.member(member).installations() > installations
                || world.member(member).isInstalling());
    if (excused) {
      world.coverage().count("probes whose result was replaced by a snapshot");
    }
    return excused;
  }

  private boolean isQuiet() {
    return clients.stream().noneMatch(SimClient::isBusy)
        && owners.stream().noneMatch(LeaseOwner::isBusy)
        && !compacting.isBusy();
  }

  private boolean haveLeasesEnded() {
    return world.membership().members().stream().allMatch(id -> world.member(id).leaseCount() == 0);
  }

  private boolean areMembersEqual() {
    for (NodeId id : world.membership().members()) {
      if (!world.member(id).isAtEnd()) {
        return false;
      }
    }
    return true;
  }

  private void check() {
    long revision = 0;
    int hash = 0;
    for (NodeId id : world.membership().members()) {
      SimMember member = world.member(id);
      require(revision == 0 || member.revision() == revision, "revisions differ at the end", id);
      require(revision == 0 || member.contentHash() == hash, "contents differ at the end", id);
      revision = member.revision();
      hash = member.contentHash();
    }
    LinearizabilityCheck.Verdict verdict = HistoryChecks.check(world.history());
    if (verdict == LinearizabilityCheck.Verdict.UNDECIDED) {
      world.coverage().count("histories that could not be decided");
    }
    WatchCheck watches =
        new WatchCheck(
            world.history().committed(), HistoryChecks.maxCompaction(world.history().calls()));
    for (WatchingClient client : watching) {
      for (WatchRecord watch : client.open()) {
        watches.checkComplete(watch, revision);
        world.coverage().count("watchers complete at the end");
      }
    }
    world.coverage().count("watchers checked", world.history().watches().size());
    world.coverage().count("revisions", revision);
  }
}
