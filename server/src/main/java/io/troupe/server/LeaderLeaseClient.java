package io.troupe.server;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.RefusedException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lease operations that only the leader can execute: renewals and remaining times (L6, L7). Sends
 * them to this member's lease actor if it leads, otherwise to the leader, and repeats them with the
 * next leader until the request timeout.
 */
final class LeaderLeaseClient {
  private static final Duration PAUSE = Duration.ofMillis(50);

  /** Timeout of one query to the leader, because another member may lead by then. */
  private static final Duration ASK_LEADER = Duration.ofSeconds(1);

  private static final Set<Refusal> RETRYABLE =
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
    this.forwarded =
        new RenewalForwarder(member.status()::term, query -> leader.ask(query, ASK_LEADER));
  }

  /**
   * Renews a lease.
   *
   * @return the granted time in seconds, 0 if there is no such lease; fails with NO_LEADER or
   *     TIMED_OUT after the request timeout
   */
  CompletionStage<Long> renew(long lease) {
    return untilReply(() -> renewHere(lease), () -> forwarded.renew(lease));
  }

  /** The remaining time of a lease; fails like {@link #renew}. */
  CompletionStage<PeerReply.Remaining> timeToLive(long lease) {
    return untilReply(
        () -> timeToLiveHere(lease),
        () ->
            leader
                .ask(new PeerQuery.TimeToLiveQuery(lease), ASK_LEADER)
                .thenApply(
                    reply -> {
                      if (reply instanceof PeerReply.Remaining remaining) {
                        return remaining;
                      }
                      throw refused(reply);
                    }));
  }

  static RefusedException refused(PeerReply reply) {
    return new RefusedException(
        reply instanceof PeerReply.Refused refused ? refused.reason() : Refusal.TIMED_OUT);
  }

  /** On the leader; other members refuse with NO_LEADER. */
  private CompletionStage<Long> renewHere(long lease) {
    return here(
        member
            .replies()
            .ask(
                member.lease(),
                replyTo -> new LeaseCommand.KeepAlive(lease, replyTo),
                settings.requestTimeout()),
        reply -> ((LeaseReply.Renewed) reply).ttlSeconds());
  }

  /** On the leader, for the clients of another member; other members refuse with NO_LEADER. */
  CompletionStage<PeerReply.Renewed> renewAllHere(NodeId from, PeerQuery.RenewQuery renew) {
    return here(
        member
            .replies()
            .ask(
                member.lease(),
                replyTo -> new LeaseCommand.KeepAliveAll(from, renew, replyTo),
                settings.requestTimeout()),
        reply -> ((LeaseReply.RenewedAll) reply).renewed());
  }

  /** On the leader; other members refuse with NO_LEADER. */
  CompletionStage<PeerReply.Remaining> timeToLiveHere(long lease) {
    return here(
        member
            .replies()
            .ask(
                member.lease(),
                replyTo -> new LeaseCommand.TimeToLive(lease, replyTo),
                settings.requestTimeout()),
        reply -> {
          LeaseReply.Remaining remaining = (LeaseReply.Remaining) reply;
          return new PeerReply.Remaining(remaining.remainingSeconds(), remaining.grantedSeconds());
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

  /**
   * The first attempt runs without {@link Retry}, whose timer would stay in memory for the whole
   * request timeout: it ends by itself, since each query has a timeout.
   */
  private <T> CompletionStage<T> untilReply(
      Supplier<CompletionStage<T>> here, Supplier<CompletionStage<T>> there) {
    NodeId leads = member.status().leader();
    if (leads.isNone()) {
      return attempts(Duration.ZERO, settings.requestTimeout(), here, there);
    }
    boolean own = leads.equals(member.status().memberId());
    long beginNanos = System.nanoTime();
    CompletableFuture<T> outcome = new CompletableFuture<>();
    (own ? here : there)
        .get()
        .whenComplete(
            (result, failure) -> {
              if (failure == null) {
                outcome.complete(result);
              } else if (isRetryable(failure)
                  && !(own && cause(failure) instanceof TimeoutException)) {
                Duration used = Duration.ofNanos(System.nanoTime() - beginNanos);
                // The refusal of a former leader can arrive before the news of the next one, so
                // the next attempt waits. This member knows at once that it does not lead.
                attempts(
                        own ? Duration.ZERO : PAUSE,
                        settings.requestTimeout().minus(used),
                        here,
                        there)
                    .whenComplete((later, last) -> end(outcome, later, last));
              } else {
                // A timeout of this member's lease actor has used up the request timeout.
                outcome.completeExceptionally(cause(failure));
              }
            });
    return outcome;
  }

  private static <T> void end(CompletableFuture<T> outcome, T result, @Nullable Throwable failure) {
    if (failure == null) {
      outcome.complete(result);
    } else {
      outcome.completeExceptionally(failure);
    }
  }

  private <T> CompletionStage<T> attempts(
      Duration pause,
      Duration limit,
      Supplier<CompletionStage<T>> here,
      Supplier<CompletionStage<T>> there) {
    NodeId self = member.status().memberId();
    return Retry.runAfter(
        pause,
        member,
        limit,
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
                    } else if (isRetryable(failure)) {
                      attempts.againAfter(PAUSE);
                    } else {
                      attempts.fail(cause(failure));
                    }
                  });
        });
  }

  /** The leader was not reached, or its reply was lost: repeating a renewal is harmless. */
  private static boolean isRetryable(Throwable failure) {
    Throwable cause = cause(failure);
    return cause instanceof TimeoutException
        || (cause instanceof RefusedException refused && RETRYABLE.contains(refused.reason()));
  }

  private static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }
}
