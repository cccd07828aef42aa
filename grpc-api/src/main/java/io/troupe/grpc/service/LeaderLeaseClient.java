package io.troupe.grpc.service;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.PeerAnswer;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.RefusedException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What only the leader knows of leases: renewals and what is left of their time (L6, L7). Asked of
 * this member's lease actor if it leads, else of the leader, and again of the next one until the
 * request timeout.
 */
final class LeaderLeaseClient {
  private static final Duration PAUSE = Duration.ofMillis(50);

  /** For one question to the leader: another one may lead meanwhile. */
  private static final Duration ASK_LEADER = Duration.ofSeconds(1);

  private static final Set<Refusal> ELSEWHERE =
      Set.of(
          Refusal.NO_LEADER,
          Refusal.NOT_LEADER,
          Refusal.LEADER_CHANGED,
          Refusal.TOO_MANY_REQUESTS,
          Refusal.STOPPED,
          Refusal.TIMED_OUT);

  private final Member member;
  private final GatewaySettings settings;
  private final LeaderClient leader;
  private final RenewalForwarder forwarded;

  LeaderLeaseClient(Member member, GatewaySettings settings, LeaderClient leader) {
    this.member = member;
    this.settings = settings;
    this.leader = leader;
    this.forwarded = new RenewalForwarder(query -> leader.ask(query, ASK_LEADER));
  }

  /**
   * Renews.
   *
   * @return the granted time in seconds, 0 if there is no such lease; fails with NO_LEADER or
   *     TIMED_OUT after the request timeout
   */
  CompletionStage<Long> renew(long lease) {
    return untilAnswered(() -> renewHere(lease), () -> forwarded.renew(lease));
  }

  /** How long a lease has left; fails as {@link #renew}. */
  CompletionStage<PeerAnswer.Remaining> timeToLive(long lease) {
    return untilAnswered(
        () -> timeToLiveHere(lease),
        () ->
            leader
                .ask(new PeerQuery.TimeToLiveQuery(lease), ASK_LEADER)
                .thenApply(
                    answer -> {
                      if (answer instanceof PeerAnswer.Remaining remaining) {
                        return remaining;
                      }
                      throw refused(answer);
                    }));
  }

  static RefusedException refused(PeerAnswer answer) {
    return new RefusedException(
        answer instanceof PeerAnswer.Refused refused ? refused.reason() : Refusal.TIMED_OUT);
  }

  /** On the leader; elsewhere refused with NO_LEADER. */
  CompletionStage<Long> renewHere(long lease) {
    return here(
        Ask.ask(
            member.lease(),
            replyTo -> new LeaseCommand.KeepAlive(lease, replyTo),
            settings.requestTimeout(),
            member.scheduler()),
        reply -> ((LeaseReply.Renewed) reply).ttlSeconds());
  }

  /** On the leader; elsewhere refused with NO_LEADER. */
  CompletionStage<PeerAnswer.Remaining> timeToLiveHere(long lease) {
    return here(
        Ask.ask(
            member.lease(),
            replyTo -> new LeaseCommand.TimeToLive(lease, replyTo),
            settings.requestTimeout(),
            member.scheduler()),
        reply -> {
          LeaseReply.Remaining remaining = (LeaseReply.Remaining) reply;
          return new PeerAnswer.Remaining(remaining.remainingSeconds(), remaining.grantedSeconds());
        });
  }

  private static <T> CompletionStage<T> here(
      CompletionStage<LeaseReply> asked, Function<LeaseReply, T> result) {
    return asked.thenApply(
        reply -> {
          if (reply instanceof LeaseReply.Failed failed) {
            throw new RefusedException(failed.reason());
          }
          return result.apply(reply);
        });
  }

  private <T> CompletionStage<T> untilAnswered(
      Supplier<CompletionStage<T>> here, Supplier<CompletionStage<T>> there) {
    NodeId self = member.status().memberId();
    if (member.status().leader().equals(self)) {
      // The usual case, without any machinery for more attempts.
      return here.get()
          .handle(
              (BiFunction<T, @Nullable Throwable, CompletionStage<T>>)
                  (result, failure) -> {
                    if (failure == null) {
                      return CompletableFuture.completedFuture(result);
                    }
                    // Silence of the own room took all the time there is.
                    return isElsewhere(failure) && !(cause(failure) instanceof TimeoutException)
                        ? attempts(here, there)
                        : CompletableFuture.failedFuture(cause(failure));
                  })
          .thenCompose(next -> next);
    }
    return attempts(here, there);
  }

  private <T> CompletionStage<T> attempts(
      Supplier<CompletionStage<T>> here, Supplier<CompletionStage<T>> there) {
    NodeId self = member.status().memberId();
    return Retry.run(
        member,
        settings.requestTimeout(),
        () ->
            new RefusedException(
                member.status().leader().isNone() ? Refusal.NO_LEADER : Refusal.TIMED_OUT),
        attempts -> {
          NodeId leads = member.status().leader();
          if (leads.isNone()) {
            attempts.againWhen(member.status().awaitLeader());
            return;
          }
          (leads.equals(self) ? here : there)
              .get()
              .whenComplete(
                  (result, failure) -> {
                    if (failure == null) {
                      attempts.succeed(result);
                    } else if (isElsewhere(failure)) {
                      attempts.againAfter(PAUSE);
                    } else {
                      attempts.fail(cause(failure));
                    }
                  });
        });
  }

  /** Nobody was asked who could know, or nothing was heard: a renewal does no harm twice. */
  private static boolean isElsewhere(Throwable failure) {
    Throwable cause = cause(failure);
    return cause instanceof TimeoutException
        || (cause instanceof RefusedException refused && ELSEWHERE.contains(refused.reason()));
  }

  private static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }
}
