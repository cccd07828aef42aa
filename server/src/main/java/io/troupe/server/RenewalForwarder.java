package io.troupe.server;

import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Forwards renewals to the leader. A limited number of queries is in flight; renewals that arrive
 * meanwhile share the next query, so the leader receives few messages regardless of the number of
 * leases. Thread-safe.
 */
final class RenewalForwarder {
  /**
   * With more, each query carries fewer renewals and costs both members as much. With one, all
   * renewals would wait for the repetition of a lost query.
   */
  static final int QUERIES_AT_ONCE = 2;

  static final int LEASES_PER_QUERY = 1000;

  private record Renewal(long lease, CompletableFuture<Long> ttl) {}

  private final Function<PeerQuery, CompletionStage<PeerReply>> leader;
  private List<Renewal> waiting = new ArrayList<>();
  private int inFlight;

  /**
   * Starts without queries.
   *
   * @param leader sends a query to the leader
   */
  RenewalForwarder(Function<PeerQuery, CompletionStage<PeerReply>> leader) {
    this.leader = leader;
  }

  /**
   * The time that the leader granted; fails with its refusal, or with the failure of its query or
   * of one that ended while it waited.
   */
  CompletionStage<Long> renew(long lease) {
    Renewal renewal = new Renewal(lease, new CompletableFuture<>());
    synchronized (this) {
      waiting.add(renewal);
      if (inFlight >= QUERIES_AT_ONCE) {
        return renewal.ttl();
      }
      inFlight++;
    }
    next();
    return renewal.ttl();
  }

  private void next() {
    List<Renewal> round;
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
    }
    leader
        .apply(new PeerQuery.RenewQuery(round.stream().map(Renewal::lease).toList()))
        .whenComplete(
            (reply, failure) -> {
              // The leader is not reachable. With queries of their own, renewals that wait would
              // time out one query after the other.
              List<Renewal> others = failure == null ? List.of() : takeWaiting();
              next();
              finish(round, reply, failure);
              finish(others, reply, failure);
            });
  }

  private synchronized List<Renewal> takeWaiting() {
    List<Renewal> taken = waiting;
    waiting = new ArrayList<>();
    return taken;
  }

  private static void finish(List<Renewal> round, PeerReply reply, Throwable failure) {
    if (failure != null) {
      round.forEach(renewal -> renewal.ttl().completeExceptionally(failure));
    } else if (reply instanceof PeerReply.Renewed renewed
        && renewed.ttlSeconds().size() == round.size()) {
      for (int i = 0; i < round.size(); i++) {
        round.get(i).ttl().complete(renewed.ttlSeconds().get(i));
      }
    } else {
      round.forEach(
          renewal -> renewal.ttl().completeExceptionally(LeaderLeaseClient.refused(reply)));
    }
  }
}
