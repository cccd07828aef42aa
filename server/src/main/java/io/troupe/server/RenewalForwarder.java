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
  static final int QUERIES_AT_ONCE = 8;
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

  /** The time that the leader granted; fails with its refusal, or with a timeout. */
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
      int count = Math.min(waiting.size(), LEASES_PER_QUERY);
      round = List.copyOf(waiting.subList(0, count));
      waiting = new ArrayList<>(waiting.subList(count, waiting.size()));
    }
    leader
        .apply(new PeerQuery.RenewQuery(round.stream().map(Renewal::lease).toList()))
        .whenComplete(
            (reply, failure) -> {
              next();
              finish(round, reply, failure);
            });
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
