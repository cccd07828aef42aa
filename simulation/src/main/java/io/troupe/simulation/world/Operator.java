package io.troupe.simulation.world;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipRules;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Changes the membership: adds spare members, promotes learners, removes members. */
public final class Operator {
  private static final MembershipRules.Limits LIMITS = new MembershipRules.Limits(true, 1);
  private static final int STEADY_TICKS = 50;

  private final SimWorld world;
  private final SplittableRandom random;

  /** Creates an operator of a cluster. */
  public Operator(SimWorld world, SplittableRandom random) {
    this.world = world;
    this.random = random;
  }

  /** Requests a random change, mostly a sensible one, mostly at the leader. */
  public void change() {
    SimMember leader = world.leader();
    SimMember asked =
        leader != null && random.nextInt(5) > 0
            ? leader
            : world.members().get(random.nextInt(world.members().size()));
    MemberRun run = asked.run();
    if (run == null || asked.isPaused()) {
      return;
    }
    Membership membership = asked.membership();
    ConfChange change = draw(membership);
    if (change == null) {
      return;
    }
    if (request(run, membership, change, random.nextBoolean()) != null) {
      return;
    }
    if (change.kind() == ConfChange.Kind.ADD_LEARNER
        || change.kind() == ConfChange.Kind.ADD_VOTER) {
      // In reality it is started after the response. For the other members the time makes no
      // difference.
      SimMember added = world.member(change.member());
      world.scheduler().after(random.nextInt(2_000_000), added::boot);
    }
  }

  /**
   * Requests a change at a member, with the strict checks of the gateway.
   *
   * @return the refusal, or null if the change was proposed; the outcome shows in the membership
   */
  public @Nullable Refusal request(SimMember asked, ConfChange change) {
    MemberRun run = asked.run();
    return run == null ? Refusal.NO_LEADER : request(run, asked.membership(), change, true);
  }

  private @Nullable Refusal request(
      MemberRun run, Membership membership, ConfChange change, boolean trueLiveness) {
    Refusal refusal = refusal(run, membership, change, trueLiveness);
    if (refusal != null) {
      world.coverage().count("membership changes refused by the rules");
      return refusal;
    }
    world.coverage().count("membership changes asked for");
    world.trace().note(run.id, "is asked for", change);
    run.raft.changeMembership(List.of(change), membership.version());
    return null;
  }

  private @Nullable ConfChange draw(Membership membership) {
    List<ConfChange> choice = new ArrayList<>();
    for (SimMember member : world.members()) {
      NodeId id = member.id();
      if (membership.learners().contains(id)) {
        choice.add(new ConfChange(ConfChange.Kind.PROMOTE, id));
        choice.add(new ConfChange(ConfChange.Kind.PROMOTE, id));
        choice.add(new ConfChange(ConfChange.Kind.REMOVE, id));
      } else if (membership.isVoter(id)) {
        choice.add(new ConfChange(ConfChange.Kind.REMOVE, id));
        if (random.nextInt(3) == 0) {
          choice.add(SimWorld.addition(ConfChange.Kind.UPDATE, id));
        }
      } else if (!membership.removed().contains(id) && !membership.members().isEmpty()) {
        choice.add(SimWorld.addition(ConfChange.Kind.ADD_LEARNER, id));
        choice.add(SimWorld.addition(ConfChange.Kind.ADD_VOTER, id));
      }
    }
    return choice.isEmpty() ? null : choice.get(random.nextInt(choice.size()));
  }

  private @Nullable Refusal refusal(
      MemberRun run, Membership membership, ConfChange change, boolean trueLiveness) {
    MembershipRules.Facts facts =
        new MembershipRules.Facts(
            membership,
            world.rules().peerUrls(membership),
            new TreeSet<>(run.apply.machine().view().members().keySet()));
    ReplicationStatus replication = run.raft.replication();
    MembershipRules.Liveness liveness = liveness(run, trueLiveness ? replication : null);
    return switch (change.kind()) {
      case ADD_VOTER, ADD_LEARNER -> MembershipRules.refuseAdd(facts, change, LIMITS, liveness);
      case REMOVE -> MembershipRules.refuseRemove(facts, change.member(), LIMITS, liveness);
      case UPDATE -> MembershipRules.refuseUpdate(facts, change);
      case PROMOTE -> promotion(facts, replication, change.member());
    };
  }

  private MembershipRules.Liveness liveness(
      MemberRun run, @Nullable ReplicationStatus replication) {
    if (replication != null) {
      return replication.liveness(STEADY_TICKS);
    }
    // As if all members were reachable: the strict checks protect only operators, not the data.
    TreeSet<NodeId> all = new TreeSet<>();
    world.members().forEach(member -> all.add(member.id()));
    all.add(run.id);
    return new MembershipRules.Liveness(all, all);
  }

  private static @Nullable Refusal promotion(
      MembershipRules.Facts facts, @Nullable ReplicationStatus replication, NodeId member) {
    if (replication == null) {
      return Refusal.NOT_LEADER;
    }
    ReplicationStatus.Peer peer = replication.peers().get(member);
    return MembershipRules.refusePromote(
        facts, member, LIMITS, peer == null ? 0 : peer.match(), replication.lastIndex());
  }
}
