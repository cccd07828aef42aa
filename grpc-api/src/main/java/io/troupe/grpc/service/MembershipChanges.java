package io.troupe.grpc.service;

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
 * Checks changes of the membership and proposes them. A change is checked against the applied state
 * and proposed with that state's membership as its basis; if the membership moved meanwhile, or
 * another change is in progress, it is checked again and proposed again, as long as the client waits.
 * So is a proposal that got lost: at most one of them takes effect, because the first one that does
 * moves the membership.
 */
final class MembershipChanges {
  /** Between two tries while another change is in progress. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  private static final Liveness NOBODY = new Liveness(Set.of(), Set.of());

  private final Member member;
  private final GatewaySettings settings;
  private final Proposer proposer;
  private final RaftQueries facts;

  MembershipChanges(Member member, GatewaySettings settings, Proposer proposer, RaftQueries facts) {
    this.member = member;
    this.settings = settings;
    this.proposer = proposer;
    this.facts = facts;
  }

  @FunctionalInterface
  private interface Check {
    /** Why the change must not be made to the state that {@code view} shows, or null. */
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

  /** M6; answered when the member is needed for nothing any more. */
  CompletionStage<ClusterView> remove(NodeId id, Duration limit) {
    return make(
        new ConfChange(ConfChange.Kind.REMOVE, id),
        view ->
            liveness()
                .thenApply(
                    live ->
                        MembershipRules.refuseRemove(
                            view.facts(),
                            id,
                            settings.membership(),
                            live,
                            member.status().memberId())),
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

  /** M8 on the leader; elsewhere refused with NOT_LEADER. */
  CompletionStage<ClusterView> promote(NodeId id, Duration limit) {
    return make(
        new ConfChange(ConfChange.Kind.PROMOTE, id),
        view -> facts.replication().thenApply(status -> promotion(view, id, status)),
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

  /** Only the strict checks check it. */
  private CompletionStage<Liveness> liveness() {
    return settings.membership().strict()
        ? facts.liveness()
        : CompletableFuture.completedFuture(NOBODY);
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
      CompletionStage<ProposeReply> answer =
          Ask.ask(
              member.raft(),
              replyTo -> new RaftCommand.ProposeConfChange(proposal, replyTo),
              attempts.timeLeft(settings.requestTimeout()),
              member.scheduler());
      answer.whenComplete(
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

  /** For a proposal of which nothing was heard: the state tells whether it was applied. */
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
