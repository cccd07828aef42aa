package io.troupe.server;

import io.troupe.model.Refusal;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.RefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Forwards renewals to the leader. One query is in flight, or two if the first is full or slow;
 * renewals that arrive meanwhile share the next query, so the leader receives few messages
 * regardless of the number of leases. Thread-safe.
 */
final class RenewalForwarder {
  /**
   * With more, each query carries fewer renewals and costs both members as much. With one, all
   * renewals would wait for the repetition of a lost query.
   */
  static final int QUERIES_AT_ONCE = 2;

  /** A query without a reply for so long does not hold up the next one. */
  static final long SLOW_NANOS = Duration.ofMillis(20).toNanos();

  static final int LEASES_PER_QUERY = 1000;

  private record Renewal(long lease, CompletableFuture<Long> ttl) {}

  private final LongSupplier term;
  private final LongSupplier nanoTime;
  private final Function<PeerQuery, CompletionStage<PeerReply>> leader;
  private List<Renewal> waiting = new ArrayList<>();
  private int inFlight;

  /** When the newest query was sent. */
  private long sentNanos;

  /** Highest number in a reply to a query of the term. */
  private long seen;

  private long seenTerm;

  /**
   * Starts without queries.
   *
   * @param term current term of this member: it has not voted in a later one
   * @param leader sends a query to the leader
   */
  RenewalForwarder(LongSupplier term, Function<PeerQuery, CompletionStage<PeerReply>> leader) {
    this(term, System::nanoTime, leader);
  }

  /** With another clock than {@link System#nanoTime}. */
  RenewalForwarder(
      LongSupplier term,
      LongSupplier nanoTime,
      Function<PeerQuery, CompletionStage<PeerReply>> leader) {
    this.nanoTime = nanoTime;
    this.term = term;
    this.leader = leader;
  }

  /**
   * The time that the leader granted; fails with its refusal, with TIMED_OUT if the outcome is not
   * known yet, or with the failure of its query or of one that ended while it waited.
   */
  CompletionStage<Long> renew(long lease) {
    Renewal renewal = new Renewal(lease, new CompletableFuture<>());
    synchronized (this) {
      waiting.add(renewal);
      if (inFlight >= QUERIES_AT_ONCE || (inFlight > 0 && !isSecondNeeded())) {
        return renewal.ttl();
      }
      inFlight++;
    }
    next();
    return renewal.ttl();
  }

  private boolean isSecondNeeded() {
    return waiting.size() >= LEASES_PER_QUERY || nanoTime.getAsLong() - sentNanos >= SLOW_NANOS;
  }

  private void next() {
    List<Renewal> round;
    long now;
    long number;
    synchronized (this) {
      if (waiting.isEmpty()) {
        inFlight--;
        return;
      }
      if (waiting.size() <= LEASES_PER_QUERY) {
        round = takeWaiting();
      } else {
        round = List.copyOf(waiting.subList(0, LEASES_PER_QUERY));
        waiting = new ArrayList<>(waiting.subList(LEASES_PER_QUERY, waiting.size()));
      }
      // Read after the clients sent these renewals.
      now = term.getAsLong();
      number = seenTerm == now ? seen : 0;
      sentNanos = nanoTime.getAsLong();
    }
    leader
        .apply(new PeerQuery.RenewQuery(round.stream().map(Renewal::lease).toList(), now, number))
        .whenComplete(
            (reply, failure) -> {
              // The leader is not reachable. With queries of their own, renewals that wait would
              // time out one query after the other.
              List<Renewal> others = failure == null ? List.of() : takeWaiting();
              if (reply instanceof PeerReply.Renewed renewed) {
                saw(now, renewed.number());
              }
              next();
              finish(round, reply, failure);
              finish(others, reply, failure);
            });
  }

  private synchronized void saw(long inTerm, long number) {
    if (inTerm > seenTerm) {
      seenTerm = inTerm;
      seen = number;
    } else if (inTerm == seenTerm) {
      seen = Math.max(seen, number);
    }
  }

  private synchronized List<Renewal> takeWaiting() {
    List<Renewal> taken = waiting;
    waiting = new ArrayList<>();
    return taken;
  }

  private static void finish(Renewal renewal, long ttlSeconds) {
    if (ttlSeconds == PeerReply.Renewed.NOT_YET) {
      renewal.ttl().completeExceptionally(new RefusedException(Refusal.TIMED_OUT));
    } else {
      renewal.ttl().complete(ttlSeconds);
    }
  }

  private static void finish(List<Renewal> round, PeerReply reply, Throwable failure) {
    if (failure != null) {
      round.forEach(renewal -> renewal.ttl().completeExceptionally(failure));
    } else if (reply instanceof PeerReply.Renewed renewed
        && renewed.ttlSeconds().size() == round.size()) {
      for (int i = 0; i < round.size(); i++) {
        finish(round.get(i), renewed.ttlSeconds().get(i));
      }
    } else {
      round.forEach(
          renewal -> renewal.ttl().completeExceptionally(LeaderLeaseClient.refused(reply)));
    }
  }
}
