package io.troupe.lease;

import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import io.troupe.model.Refusal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * The rules of the lease actor: counts leases down while this member leads (L4, L5, L10). Deletes
 * nothing itself: it proposes the revoke of an expired lease, and the entry deletes the lease on
 * every member. If checkpoints are enabled, it proposes the remaining times of long leases from
 * time to time for the next leader (L12). One thread.
 *
 * <p>Every {@code nowMs} is a reading of one monotonic clock, in milliseconds.
 *
 * @param <R> identifies the caller that gets a reply
 */
public final class LeaseCore<R> {
  /** Interval of {@link #check}, in milliseconds (L10). */
  public static final long CHECK_EVERY_MS = 500;

  /**
   * A longer time between two readings of the clock is a pause and is not counted. It must be well
   * below the shortest TTL less the time between two renewals (2 s, less a third to a half of it).
   * Otherwise a pause that still counts expires leases whose renewals are in the mailbox.
   */
  private static final long MAX_GAP_MS = 2 * CHECK_EVERY_MS;

  /** Leases in one checkpoint entry (L12). One such entry is in flight. */
  private static final int CHECKPOINTS_PER_ENTRY = 1000;

  /** Without a request of a follower for so long, the next one may be far away. */
  private static final long FOLLOWERS_PAUSE_MS = 3;

  /** What no follower has confirmed by then is confirmed by a round, in milliseconds. */
  public static final long FOLLOWERS_CONFIRM_WITHIN_MS = 50;

  private static final int EXPIRED_PER_CHECK = 500;
  private static final int REVOKES_IN_FLIGHT = 16;

  /**
   * Settings of a core.
   *
   * @param electionTimeoutMs extends every lease when the leader changes (L11)
   * @param checkpointEveryMs L12; 0 disables checkpoints
   */
  public record Settings(long electionTimeoutMs, long checkpointEveryMs) {}

  private final Settings settings;
  private final BooleanSupplier soleVoter;
  private final LeaseEffects<R> effects;
  private final ConfirmationRounds<R> rounds;

  /** For each follower that has sent requests in this term: they wait for its confirmation. */
  private final Map<NodeId, ConfirmationRounds<R>> supported = new HashMap<>();

  private final LeaseCountdown countdown;
  private final PauseAwareClock time = new PauseAwareClock(MAX_GAP_MS);
  private final Map<Long, Long> ttls = new HashMap<>();
  private final Map<Long, List<R>> ending = new HashMap<>();
  private final ArrayDeque<Long> due = new ArrayDeque<>();
  private int inFlight;

  /** Time of the last request of a follower in this term. */
  private long followersMs = Long.MIN_VALUE / 2;

  private boolean confirmsLater;
  private boolean checkpointing;
  private boolean leading;

  /**
   * Whether the state contains all entries of earlier terms. Until then the state may lack a grant,
   * or the deletion of a checkpoint for a renewal. So no lease expires, and no client gets the
   * reply that its lease is unknown.
   */
  private boolean caughtUp;

  private long term;

  /**
   * Starts as a member that does not lead.
   *
   * @param granted the leases of the state; later changes arrive by {@link #changed}
   * @param soleVoter true only while no other member can lead; then no quorum round is needed
   */
  public LeaseCore(
      Settings settings, List<Lease> granted, BooleanSupplier soleVoter, LeaseEffects<R> effects) {
    this.settings = settings;
    this.soleVoter = soleVoter;
    this.effects = effects;
    this.rounds = new ConfirmationRounds<>(effects, NodeId.NONE);
    this.countdown = new LeaseCountdown(settings.checkpointEveryMs());
    granted.forEach(lease -> ttls.put(lease.id(), lease.ttlSeconds()));
  }

  private void passTime(long nowMs) {
    countdown.advance(time.elapsedMs(nowMs));
  }

  /** A client renews a lease; it gets the reply when the outcome is certain (L5). */
  public void keepAlive(long id, R replyTo, long nowMs) {
    serveConfirmed(new LeaseProposal.Renewal<>(id, replyTo), nowMs);
  }

  /**
   * Another member forwards renewals of its clients; it gets one reply, without a wait for entries
   * (L6).
   *
   * @param ids leases, in order
   * @param from the member
   * @param itsTerm its term after the clients sent their requests; 0 if unknown
   * @param seen highest number in the replies that it got in that term; 0 for none
   */
  public void keepAliveAll(
      List<Long> ids, NodeId from, long itsTerm, long seen, R replyTo, long nowMs) {
    boolean sameTerm = leading && itsTerm == term;
    LeaseRequest.RenewAll<R> request = new LeaseRequest.RenewAll<>(ids, sameTerm, replyTo);
    if (!sameTerm || isConfirmed()) {
      serveConfirmed(request, nowMs);
      return;
    }
    followersMs = nowMs;
    ConfirmationRounds<R> own =
        supported.computeIfAbsent(from, follower -> new ConfirmationRounds<>(effects, follower));
    rounds.seen(seen).forEach(own::add);
    own.add(request);
    own.open(term);
  }

  /** A client queries the remaining time of a lease; it gets the reply as for a renewal (L7). */
  public void timeToLive(long id, R replyTo, long nowMs) {
    serveConfirmed(new LeaseRequest.TimeToLive<>(id, replyTo), nowMs);
  }

  private void serveConfirmed(LeaseRequest<R> request, long nowMs) {
    if (!leading) {
      effects.failed(request.replyTo(), Refusal.NO_LEADER);
    } else if (isConfirmed()) {
      serve(List.of(request), nowMs);
    } else {
      rounds.add(request);
      openRound(nowMs);
    }
  }

  private boolean isConfirmed() {
    return caughtUp && soleVoter.getAsBoolean();
  }

  /** While followers send requests all the time, the next one confirms what waits here as well. */
  private void openRound(long nowMs) {
    if (!rounds.hasWaiting()) {
      return;
    }
    if (nowMs - followersMs > FOLLOWERS_PAUSE_MS) {
      rounds.open(term);
    } else if (!confirmsLater) {
      confirmsLater = true;
      effects.confirmWaitingLater();
    }
  }

  /** As requested by {@link LeaseEffects#confirmWaitingLater}. */
  public void confirmWaiting() {
    confirmsLater = false;
    if (leading) {
      rounds.open(term);
    }
  }

  /**
   * The confirmation round in progress ended. A later leader gives a lease its full time from a
   * later moment than this, so the owner may rely on the renewal (docs/decisions/0041).
   *
   * @param supporter of the round
   * @param confirmed false if this member no longer leads in the term of the round
   */
  public void leadershipConfirmed(NodeId supporter, boolean confirmed, long nowMs) {
    long leadsIn = leading ? term : 0;
    if (supporter.isNone()) {
      serve(rounds.confirmed(confirmed, leadsIn), nowMs);
      openRound(nowMs);
      return;
    }
    ConfirmationRounds<R> own =
        Objects.requireNonNull(supported.get(supporter), "no round of this member is in progress");
    serve(own.confirmed(confirmed, leadsIn), nowMs);
    own.open(term);
    if (own.isIdle()) {
      supported.remove(supporter);
    }
  }

  private void serve(List<LeaseRequest<R>> round, long nowMs) {
    passTime(nowMs);
    List<LeaseProposal.Renewal<R>> checkpointed = new ArrayList<>(0);
    for (LeaseRequest<R> request : round) {
      if (request instanceof LeaseProposal.Renewal<R> renewal) {
        renew(renewal, checkpointed);
      } else if (request instanceof LeaseRequest.RenewAll<R> all) {
        renewAll(all);
      } else if (request instanceof LeaseRequest.TimeToLive<R> query) {
        sendRemaining(query);
      }
    }
    // A later leader would count from the checkpoint, so the owner gets its reply when the
    // checkpoint is deleted.
    for (int from = 0; from < checkpointed.size(); from += CHECKPOINTS_PER_ENTRY) {
      int to = Math.min(from + CHECKPOINTS_PER_ENTRY, checkpointed.size());
      effects.propose(
          new LeaseProposal.Forget<>(term, List.copyOf(checkpointed.subList(from, to)), List.of()));
    }
  }

  private void renewAll(LeaseRequest.RenewAll<R> all) {
    List<Long> checkpointed = new ArrayList<>(0);
    List<Long> outcomes = new ArrayList<>(all.ids().size());
    for (long id : all.ids()) {
      LeaseCountdown.Renewal outcome = countdown.renew(id);
      if (outcome == LeaseCountdown.Renewal.CHECKPOINTED) {
        checkpointed.add(id);
      }
      outcomes.add(
          switch (outcome) {
            case RENEWED -> ttls.getOrDefault(id, 0L);
            case UNKNOWN -> 0L;
            case CHECKPOINTED, EXPIRED -> LeaseEffects.NOT_YET;
          });
    }
    for (int from = 0; from < checkpointed.size(); from += CHECKPOINTS_PER_ENTRY) {
      int to = Math.min(from + CHECKPOINTS_PER_ENTRY, checkpointed.size());
      effects.propose(
          new LeaseProposal.Forget<>(term, List.of(), List.copyOf(checkpointed.subList(from, to))));
    }
    effects.renewedAll(all.replyTo(), outcomes, all.numbered() ? rounds.number() : 0);
  }

  private void renew(
      LeaseProposal.Renewal<R> renewal, List<LeaseProposal.Renewal<R>> checkpointed) {
    long id = renewal.id();
    switch (countdown.renew(id)) {
      case RENEWED -> sendRenewed(renewal);
      case UNKNOWN -> effects.renewed(renewal.replyTo(), id, 0);
      case CHECKPOINTED -> checkpointed.add(renewal);
      // It must not be renewed again: the reply waits for its revoke.
      case EXPIRED -> ending.computeIfAbsent(id, lease -> new ArrayList<>()).add(renewal.replyTo());
    }
  }

  /** Replies with the granted TTL, or with 0 if the lease has ended meanwhile. */
  private void sendRenewed(LeaseProposal.Renewal<R> renewal) {
    effects.renewed(renewal.replyTo(), renewal.id(), ttls.getOrDefault(renewal.id(), 0L));
  }

  private void sendRemaining(LeaseRequest.TimeToLive<R> request) {
    long id = request.id();
    OptionalLong leftMs = countdown.remainingMs(id);
    if (leftMs.isEmpty()) {
      effects.remaining(request.replyTo(), id, -1, 0);
    } else {
      effects.remaining(
          request.replyTo(), id, leftMs.getAsLong() / 1000, ttls.getOrDefault(id, 0L));
    }
  }

  /** A client queries all leases (L8). */
  public void listLeases(R replyTo) {
    effects.leases(replyTo, leading ? countdown.idsByRemaining() : List.copyOf(ttls.keySet()));
  }

  /** Applied entries changed leases, in this order. */
  public void changed(List<LeaseChange> changes, long nowMs) {
    passTime(nowMs);
    for (LeaseChange change : changes) {
      if (change instanceof LeaseChange.Granted granted) {
        ttls.put(granted.id(), granted.ttlSeconds());
        if (leading) {
          countdown.granted(granted.id(), granted.ttlSeconds());
        }
      } else if (change instanceof LeaseChange.Revoked revoked) {
        ttls.remove(revoked.id());
        countdown.revoked(revoked.id());
        sendEnded(revoked.id());
      } else if (change instanceof LeaseChange.Checkpointed checkpointed && leading) {
        countdown.checkpointed(checkpointed.id(), checkpointed.remainingSeconds());
      }
    }
  }

  private void sendEnded(long lease) {
    List<R> waiting = ending.remove(lease);
    if (waiting != null) {
      waiting.forEach(replyTo -> effects.renewed(replyTo, lease, 0));
    }
  }

  /**
   * This member became leader: the countdown starts.
   *
   * @param leases all granted leases
   * @param leadsIn term in which it leads
   */
  public void promoted(List<Lease> leases, long leadsIn, long nowMs) {
    passTime(nowMs);
    dropWaiting();
    leading = true;
    caughtUp = false;
    term = leadsIn;
    ttls.clear();
    for (Lease lease : leases) {
      ttls.put(lease.id(), lease.ttlSeconds());
    }
    countdown.promote(leases, settings.electionTimeoutMs());
  }

  /**
   * The state has applied everything that was committed before this member became leader.
   *
   * @param leadsIn term in which it leads
   */
  public void stateCaughtUp(long leadsIn) {
    caughtUp |= leading && term == leadsIn;
  }

  /** This member is no longer leader. */
  public void demoted() {
    leading = false;
    countdown.demote();
    dropWaiting();
  }

  /** Fails the callers that wait for a reply of an ended leadership. */
  private void dropWaiting() {
    rounds.abandon();
    supported.values().forEach(ConfirmationRounds::abandon);
    due.clear();
    ending
        .values()
        .forEach(
            waiting -> waiting.forEach(replyTo -> effects.failed(replyTo, Refusal.LEADER_CHANGED)));
    ending.clear();
  }

  /** Called every {@value #CHECK_EVERY_MS} ms: proposes what is due. */
  public void check(long nowMs) {
    passTime(nowMs);
    if (leading && caughtUp) {
      due.addAll(
          countdown.takeExpired(EXPIRED_PER_CHECK - Math.min(EXPIRED_PER_CHECK, due.size())));
      revokeNext();
      checkpointNext();
    }
  }

  private void revokeNext() {
    while (inFlight < REVOKES_IN_FLIGHT && !due.isEmpty()) {
      inFlight++;
      effects.propose(new LeaseProposal.Revoke<>(term, due.removeFirst()));
    }
  }

  private void checkpointNext() {
    if (checkpointing) {
      return;
    }
    List<Remaining> leases = countdown.takeCheckpoints(CHECKPOINTS_PER_ENTRY);
    if (!leases.isEmpty()) {
      checkpointing = true;
      effects.propose(new LeaseProposal.Checkpoint<>(term, leases));
    }
  }

  /**
   * A proposal was applied or refused, or got no reply in time.
   *
   * @param applied true if the operation was applied and took effect; if false, it may still do so
   */
  public void proposalEnded(LeaseProposal<R> proposal, boolean applied) {
    if (proposal instanceof LeaseProposal.Forget<R> forget) {
      onForgetEnded(forget, applied);
    } else if (proposal instanceof LeaseProposal.Checkpoint<R>) {
      checkpointing = false;
      if (applied && leading) {
        checkpointNext();
      }
    } else {
      // Whatever the result: a lease that still exists expires again and is returned again after
      // its time (L10).
      inFlight--;
      revokeNext();
    }
  }

  private void onForgetEnded(LeaseProposal.Forget<R> forget, boolean applied) {
    if (!leading || term != forget.term()) {
      rounds.fail(forget.renewals());
      return;
    }
    forget.leases().forEach(lease -> countdown.forgotten(lease, applied));
    if (applied) {
      forget.renewals().forEach(this::sendRenewed);
    } else {
      rounds.fail(forget.renewals());
    }
  }
}
