package io.troupe.server;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RaftQueries;
import io.troupe.protocol.RefusedException;
import io.troupe.raft.ConfProposal;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipRules;
import io.troupe.raft.membership.MembershipRules.Liveness;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Checks membership changes and proposes them. A change is checked against the applied state and
 * proposed with that state's membership as its basis. If the membership has changed since, or
 * another change is in progress, it is checked and proposed again, as long as the client waits. A
 * lost proposal is repeated in the same way: at most one of the proposals takes effect, because the
 * first one changes the membership.
 */
final class MembershipChanges {
  /** Delay between two attempts while another change is in progress. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  private static final Liveness NONE_CONNECTED = new Liveness(Set.of(), Set.of());

  private final Member member;
  private final GatewaySettings settings;
  private final Proposer proposer;
  private final RaftQueries raftQueries;

  MembershipChanges(
      Member member, GatewaySettings settings, Proposer proposer, RaftQueries raftQueries) {
    this.member = member;
    this.settings = settings;
    this.proposer = proposer;
    this.raftQueries = raftQueries;
  }

  @FunctionalInterface
  private interface Check {
    /** The reason to refuse the change on the state of {@code view}, or null. */
    CompletionStage<@Nullable Refusal> refusal(ClusterView view);
  }

  /**
   * M1, M2, M4, M5.
   *
   * @param limit how long the client waits
   * @return the members with the new one; may fail with a refusal
   */
  CompletionStage<ClusterView> add(ConfChange add, Duration limit) {
    return make(
        add,
        view ->
            liveness()
                .thenApply(
                    live ->
                        MembershipRules.refuseAdd(view.facts(), add, settings.membership(), live)),
        limit);
  }

  /** M6; responds when the removed member is no longer needed. */
  CompletionStage<ClusterView> remove(NodeId id, Duration limit) {
    return make(
        new ConfChange(ConfChange.Kind.REMOVE, id),
        view ->
            liveness()
                .thenApply(
                    live ->
                        MembershipRules.refuseRemove(
                            view.facts(), id, settings.membership(), live)),
        limit);
  }

  /** M7. */
  CompletionStage<ClusterView> update(ConfChange update, Duration limit) {
    return make(
        update,
        view ->
            CompletableFuture.completedFuture(MembershipRules.refuseUpdate(view.facts(), update)),
        limit);
  }

  /** M8 on the leader; other members refuse with NOT_LEADER. */
  CompletionStage<ClusterView> promote(NodeId id, Duration limit) {
    return make(
        new ConfChange(ConfChange.Kind.PROMOTE, id),
        view -> raftQueries.replication().thenApply(status -> promotion(view, id, status)),
        limit);
  }

  private @Nullable Refusal promotion(
      ClusterView view, NodeId id, @Nullable ReplicationStatus status) {
    if (status == null) {
      return Refusal.NOT_LEADER;
    }
    ReplicationStatus.Peer peer = status.peers().get(id);
    long match = id.equals(status.self()) ? status.lastIndex() : peer == null ? 0 : peer.match();
    return MembershipRules.refusePromote(
        view.facts(), id, settings.membership(), match, status.lastIndex());
  }

  /** Only the strict checks need it. */
  private CompletionStage<Liveness> liveness() {
    return settings.membership().strict()
        ? raftQueries.liveness()
        : CompletableFuture.completedFuture(NONE_CONNECTED);
  }

  private CompletionStage<ClusterView> make(ConfChange change, Check check, Duration limit) {
    Try state = new Try(change, check);
    return Retry.run(member, limit, Call::deadlineExceeded, state::attempt);
  }

  /** One change in flight. */
  private final class Try {
    private final ConfChange change;
    private final Check check;
    private volatile boolean fateUnknown;

    Try(ConfChange change, Check check) {
      this.change = change;
      this.check = check;
    }

    void attempt(Retry<ClusterView> attempts) {
      ClusterView view = member.state().cluster();
      if (fateUnknown && isMade(change, view)) {
        attempts.succeed(view);
        return;
      }
      check
          .refusal(view)
          .whenComplete(
              (refusal, failure) -> {
                if (failure != null) {
                  attempts.fail(failure);
                } else if (refusal != null) {
                  refused(attempts, refusal);
                } else {
                  propose(attempts, view.membership().version());
                }
              });
    }

    private void propose(Retry<ClusterView> attempts, long basis) {
      ConfProposal proposal = new ConfProposal(proposer.nextId(), List.of(change), basis);
      CompletionStage<ProposeReply> replied =
          member
              .replies()
              .ask(
                  member.raft(),
                  replyTo -> new RaftCommand.ProposeConfChange(proposal, replyTo),
                  attempts.timeLeft(settings.requestTimeout()));
      replied.whenComplete(
          (reply, failure) -> {
            if (failure instanceof TimeoutException || reply instanceof ProposeReply.Unknown) {
              fateUnknown = true;
              attempts.again();
            } else if (failure != null) {
              attempts.fail(failure);
            } else if (reply instanceof ProposeReply.NotProposed refused) {
              refused(attempts, refused.reason());
            } else {
              attempts.succeed(member.state().cluster());
            }
          });
    }

    private void refused(Retry<ClusterView> attempts, Refusal reason) {
      switch (reason) {
        case TOO_MANY_REQUESTS, LEADER_CHANGED -> attempts.againAfter(PAUSE);
        case NO_LEADER -> {
          if (member.status().leader().isNone()) {
            attempts.againWhen(member.status().awaitLeader());
          } else {
            attempts.againAfter(PAUSE);
          }
        }
        default -> attempts.fail(new RefusedException(reason));
      }
    }
  }

  /** After a lost reply: the state shows whether the proposal was applied. */
  private static boolean isMade(ConfChange change, ClusterView view) {
    Membership membership = view.membership();
    NodeId id = change.member();
    return switch (change.kind()) {
      case ADD_VOTER, ADD_LEARNER -> membership.contains(id) || membership.removed().contains(id);
      case REMOVE -> membership.removed().contains(id);
      case UPDATE -> change.peerUrls().equals(view.peerUrls().get(id));
      case PROMOTE -> membership.voters().contains(id);
    };
  }
}
