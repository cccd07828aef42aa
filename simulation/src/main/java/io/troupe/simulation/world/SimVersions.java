package io.troupe.simulation.world;

import io.troupe.machine.StateView;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.version.VersionCore;
import io.troupe.version.VersionEffects;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Runs {@link VersionCore}, and checks that its member is not too old. */
final class SimVersions implements VersionEffects {
  private static final long QUERY_TIMEOUT_US = 1_000_000;
  private static final long PROPOSE_TIMEOUT_US = 3_000_000;

  private final MemberRun run;
  private final EtcdVersion server;
  private final SimActor actor;
  private final VersionCore core;

  /** Moment and members of the world when the round began. */
  private long began;

  private Set<NodeId> membersThen = Set.of();
  private boolean inRound;
  private int queries;

  /** When this member became too old; MAX_VALUE if it is not. */
  private long tooOldUs = Long.MAX_VALUE;

  SimVersions(MemberRun run, EtcdVersion server) {
    this.run = run;
    this.server = server;
    this.actor = run.actor();
    this.core =
        new VersionCore(
            server,
            run.world.settings().versions().downgradeCheckUs() * 1000,
            run.process.clockNanos(),
            this);
  }

  void start() {
    run.world.rules().versions().started(run.id, server, state().versions());
    run.process.after(run.random.nextLong(VersionCore.CHECK_NANOS / 1000), this::check);
  }

  private StateView state() {
    return run.apply.machine().view();
  }

  private void check() {
    ClusterVersions now = state().versions();
    if (!VersionChecks.isOlder(server, now)) {
      tooOldUs = Long.MAX_VALUE;
    } else if (tooOldUs == Long.MAX_VALUE) {
      tooOldUs = run.world.scheduler().nowUs();
    }
    run.world
        .rules()
        .versions()
        .runs(run.id, server, now, tooOldUs == Long.MAX_VALUE ? 0 : run.process.ranUs(tooOldUs));
    actor.tell(
        () -> {
          if (!inRound) {
            began = run.world.rules().versions().moment();
            membersThen = run.world.rules().versions().members();
          }
          core.check(
              state().versions(), run.leads() ? run.status().term() : 0, run.process.clockNanos());
        });
    run.process.after(VersionCore.CHECK_NANOS / 1000 + run.random.nextInt(3_000), this::check);
  }

  // ---- effects

  @Override
  public void confirmLeadership(long term) {
    inRound = true;
    run.raft.confirmLeadership(
        term,
        NodeId.NONE,
        new MemberRun.ReadIndexWaiter() {
          @Override
          public void ready(long index) {
            actor.tell(() -> core.leadershipConfirmed(true));
          }

          @Override
          public void failed(Refusal reason) {
            actor.tell(
                () -> {
                  inRound = false;
                  core.leadershipConfirmed(false);
                });
          }
        });
  }

  @Override
  public void queryMembers() {
    inRound = true;
    int number = ++queries;
    Set<NodeId> members = state().membership().members();
    SortedMap<NodeId, Optional<EtcdVersion>> replies = new TreeMap<>();
    for (NodeId member : members) {
      replies.put(member, member.equals(run.id) ? Optional.of(server) : Optional.empty());
      if (!member.equals(run.id)) {
        query(
            member,
            version -> {
              replies.put(member, Optional.of(version));
              if (replies.values().stream().allMatch(Optional::isPresent)) {
                replied(number, replies);
              }
            });
      }
    }
    if (replies.values().stream().allMatch(Optional::isPresent)) {
      replied(number, replies);
    }
    run.process.after(QUERY_TIMEOUT_US, () -> replied(number, replies));
  }

  private interface Version {
    void received(EtcdVersion version);
  }

  /** Asks the process of a member, which replies without its actors. */
  private void query(NodeId member, Version reply) {
    SimNetwork network = run.world.network();
    network.send(
        run.id,
        member,
        () -> {
          MemberRun asked = run.world.member(member).run();
          if (asked != null) {
            asked.process.arrive(
                () -> {
                  EtcdVersion its = asked.server;
                  network.send(member, run.id, () -> run.process.arrive(() -> reply.received(its)));
                });
          }
        });
  }

  private void replied(int number, SortedMap<NodeId, Optional<EtcdVersion>> replies) {
    actor.tell(
        () -> {
          if (number == queries) {
            queries++;
            core.replied(
                state().versions(),
                state().membership().members(),
                replies,
                run.process.clockNanos());
          }
        });
  }

  @Override
  public void propose(long term, List<Operation.Versions> operations) {
    Once<Boolean> end =
        new Once<>(
            all ->
                actor.tell(
                    () -> {
                      inRound = false;
                      core.proposalsEnded();
                    }));
    if (operations.isEmpty()) {
      end.accept(true);
      return;
    }
    int[] open = {operations.size()};
    for (Operation.Versions operation : operations) {
      run.world.rules().versions().decided(operation, began, membersThen);
      run.world.trace().note(run.id, "decides", operation);
      run.raft.proposeInTerm(
          term,
          operation,
          outcome -> {
            if (--open[0] == 0) {
              end.accept(true);
            }
          });
    }
    run.process.after(PROPOSE_TIMEOUT_US, () -> end.accept(false));
  }

  @Override
  public void downgradeWaits(
      ClusterVersions now, SortedMap<NodeId, Optional<EtcdVersion>> servers) {
    run.world.coverage().count("checks of a downgrade that is not complete");
  }

  @Override
  public void tooOld(String reason) {
    run.world.trace().note(run.id, "is too old", reason);
    run.world.coverage().count("members stopped because they are too old");
    run.process.after(run.random.nextInt(20_000), () -> run.world.member(run.id).stopsTooOld());
  }
}
