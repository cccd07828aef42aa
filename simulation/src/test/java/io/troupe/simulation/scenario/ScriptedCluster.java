package io.troupe.simulation.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.membership.ConfChange;
import io.troupe.simulation.check.HistoryChecks;
import io.troupe.simulation.check.LinearizabilityCheck;
import io.troupe.simulation.client.SimClient;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import io.troupe.simulation.world.Operator;
import io.troupe.simulation.world.SimMember;
import io.troupe.simulation.world.SimSettings;
import io.troupe.simulation.world.SimWorld;
import io.troupe.snapshot.LogRetention;
import io.troupe.snapshot.SnapshotCore;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A cluster under load that a test controls. Deterministic for a seed. */
final class ScriptedCluster {
  private static final long SECOND = 1_000_000;

  /** Often, so that a newcomer needs a snapshot. The log reaches back to the older of two. */
  private static final SnapshotCore.Settings SNAPSHOTS =
      new SnapshotCore.Settings(
          50,
          Long.MAX_VALUE,
          Integer.MAX_VALUE,
          false,
          new LogRetention.Limits(0, Long.MAX_VALUE, Long.MAX_VALUE));

  final SimWorld world;
  private final Operator operator;
  private final List<SimClient> clients = new ArrayList<>();
  private int values;

  /**
   * Starts a cluster and waits for its leader.
   *
   * @param spares members that may be added
   * @param clients that read and write all the time
   */
  ScriptedCluster(long seed, int voters, int spares, int clients) {
    SplittableRandom random = new SplittableRandom(seed);
    SimSettings settings =
        new SimSettings(
            voters,
            spares,
            RaftSettings.defaults(),
            0,
            1,
            0,
            clients,
            0,
            0,
            20_000,
            SNAPSHOTS,
            16,
            false,
            false,
            // Reads notice damaged records at once.
            0,
            SimSettings.MemoryLimits.NONE,
            SimSettings.Versions.NONE);
    this.world = new SimWorld(settings, random.split(), false);
    this.operator = new Operator(world, random.split());
    world.start();
    await("a leader", () -> world.leader() != null);
    for (int i = 0; i < clients; i++) {
      SimClient client = new SimClient(world, random.split(), "c" + i);
      this.clients.add(client);
      client.start();
    }
  }

  void pass(int seconds) {
    world.scheduler().runUntil(world.scheduler().nowUs() + seconds * SECOND);
  }

  /** Advances time until the condition holds, at most 30 s. */
  void await(String what, BooleanSupplier condition) {
    for (int i = 0; i < 3000 && !condition.getAsBoolean(); i++) {
      world.scheduler().runUntil(world.scheduler().nowUs() + SECOND / 100);
    }
    assertThat(condition.getAsBoolean()).as("%s; %s", what, world.trace().last(20)).isTrue();
  }

  SimMember member(int number) {
    return world.member(new NodeId(number));
  }

  SimMember leader() {
    await("a leader", () -> world.leader() != null);
    SimMember leader = world.leader();
    if (leader == null) {
      throw new IllegalStateException("it was there just now");
    }
    return leader;
  }

  /** Returns a voter that does not lead. */
  SimMember follower() {
    SimMember leader = leader();
    return world.members().stream()
        .filter(m -> m != leader && world.membership().isVoter(m.id()))
        .findFirst()
        .orElseThrow();
  }

  long termOf(SimMember member) {
    RaftStatus status = member.status();
    assertThat(status).as("%s is up", member.id()).isNotNull();
    return status == null ? 0 : status.term();
  }

  /** Requests a change at the leader; null if it was proposed. */
  @Nullable Refusal request(ConfChange change) {
    return operator.request(leader(), change);
  }

  /** Adds a member and waits until the addition is applied. Its process is not started. */
  void add(ConfChange.Kind kind, SimMember newcomer) {
    await("the addition is taken", () -> request(SimWorld.addition(kind, newcomer.id())) == null);
    await("the addition is applied", () -> world.membership().contains(newcomer.id()));
  }

  /** Waits until a change is complete. */
  void awaitVoters(int count) {
    await(
        count + " voters",
        () ->
            world.membership().isTransitionComplete()
                && world.membership().voters().size() == count);
  }

  // ---- calls of the test itself

  /** Returns the outcome of a call within so many seconds. */
  private Answer call(SimMember at, Request request, int seconds) {
    List<Answer> answers = new ArrayList<>();
    long session = at.session();
    long invoked = world.scheduler().nowUs();
    world.call(at, request, answers::add);
    long end = world.scheduler().nowUs() + seconds * SECOND;
    while (answers.isEmpty() && world.scheduler().nowUs() < end) {
      world.scheduler().runUntil(world.scheduler().nowUs() + SECOND / 100);
    }
    Answer answer = answers.isEmpty() ? Answer.Unknown.INSTANCE : answers.get(0);
    long returned = answers.isEmpty() ? Call.NEVER : world.scheduler().nowUs();
    world.history().add(new Call(session, request, invoked, returned, answer));
    return answer;
  }

  /** Starts writes of a key that the clients do not use, and collects their outcomes. */
  List<Answer> beginPuts(SimMember at, int count) {
    List<Answer> answers = new ArrayList<>();
    long session = at.session();
    for (int i = 0; i < count; i++) {
      Request put =
          new Request.Write(
              new Operation.Put(
                  Bytes.utf8("story"), Bytes.utf8("s" + ++values), 0, false, false, false));
      long invoked = world.scheduler().nowUs();
      world.call(
          at,
          put,
          answer -> {
            answers.add(answer);
            boolean unknown = answer instanceof Answer.Unknown;
            long returned = unknown ? Call.NEVER : world.scheduler().nowUs();
            world.history().add(new Call(session, put, invoked, returned, answer));
          });
    }
    return answers;
  }

  void passMs(int ms) {
    world.scheduler().runUntil(world.scheduler().nowUs() + ms * 1000L);
  }

  /** Writes a key that the clients do not use. */
  Answer put(SimMember at, int seconds) {
    Operation put =
        new Operation.Put(Bytes.utf8("story"), Bytes.utf8("s" + ++values), 0, false, false, false);
    return call(at, new Request.Write(put), seconds);
  }

  /** Reads that key. */
  Answer read(SimMember at, boolean serializable, int seconds) {
    return call(
        at,
        new Request.Read(RangeQuery.of(KeyRange.single(Bytes.utf8("story")), 0), serializable),
        seconds);
  }

  /**
   * Checks that a write and a linearizable read succeed. A member that has just joined may need
   * another try.
   */
  void works(SimMember at) {
    Answer written = Answer.Unknown.INSTANCE;
    Answer read = Answer.Unknown.INSTANCE;
    for (int i = 0; i < 10 && !(read instanceof Answer.Done); i++) {
      written = put(at, 3);
      read = written instanceof Answer.Done ? read(at, false, 3) : read;
      pass(1);
    }
    assertThat(written).as("a write at %s", at.id()).isInstanceOf(Answer.Done.class);
    assertThat(read).as("a read at %s", at.id()).isInstanceOf(Answer.Done.class);
  }

  /** Checks that neither a write nor a linearizable read succeeds. */
  void doesNotServe(SimMember at) {
    assertThat(put(at, 3)).as("a write at %s", at.id()).isNotInstanceOf(Answer.Done.class);
    assertThat(read(at, false, 3)).as("a read at %s", at.id()).isNotInstanceOf(Answer.Done.class);
  }

  // ---- the network

  /** Cuts all links between these members and the other members. */
  void cutOff(Set<SimMember> side) {
    for (SimMember one : world.members()) {
      for (SimMember other : world.members()) {
        if (side.contains(one) != side.contains(other)) {
          world.network().cut(one.id(), other.id());
        }
      }
    }
  }

  void heal() {
    world.network().heal();
  }

  // ---- the end

  /**
   * Checks the final state: every member serves, all are equal, and the recorded calls are
   * linearizable.
   */
  void end() {
    await("a settled membership", () -> world.membership().isTransitionComplete());
    clients.forEach(SimClient::stop);
    await("all calls are finished", () -> clients.stream().noneMatch(SimClient::isBusy));
    for (NodeId id : world.membership().voters()) {
      works(world.member(id));
    }
    await(
        "all members are equal",
        () -> world.membership().members().stream().allMatch(id -> world.member(id).isAtEnd()));
    int hash = leader().contentHash();
    for (NodeId id : world.membership().members()) {
      assertThat(world.member(id).contentHash()).as("content of %s", id).isEqualTo(hash);
    }
    if (!clients.isEmpty()) {
      assertThat(HistoryChecks.check(world.history()))
          .isEqualTo(LinearizabilityCheck.Verdict.HOLDS);
    }
  }
}
