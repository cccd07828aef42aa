package io.troupe.grpc.service;

import io.troupe.protocol.PeerAnswer;
import io.troupe.protocol.PeerQuery;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Renewals in flight to the leader. A few questions are in progress at a time; what comes
 * meanwhile shares the next one, so however many leases are renewed here the leader sees few
 * messages. Thread-safe.
 */
final class RenewalForwarder {
  static final int QUESTIONS_AT_ONCE = 8;
  static final int LEASES_PER_QUESTION = 1000;

  private record Renewal(long lease, CompletableFuture<Long> ttl) {}

  private final Function<PeerQuery, CompletionStage<PeerAnswer>> leader;
  private List<Renewal> waiting = new ArrayList<>();
  private int underWay;

  /**
   * Nothing is in progress.
   *
   * @param leader asks the leader
   */
  RenewalForwarder(Function<PeerQuery, CompletionStage<PeerAnswer>> leader) {
    this.leader = leader;
  }

  /** The granted time as the leader says; fails with what it refused, or with a timeout. */
  CompletionStage<Long> renew(long lease) {
    Renewal renewal = new Renewal(lease, new CompletableFuture<>());
    synchronized (this) {
      waiting.add(renewal);
      if (underWay >= QUESTIONS_AT_ONCE) {
        return renewal.ttl();
      }
      underWay++;
    }
    next();
    return renewal.ttl();
  }

  private void next() {
    List<Renewal> round;
    synchronized (this) {
      if (waiting.isEmpty()) {
        underWay--;
        return;
      }
      int count = Math.min(waiting.size(), LEASES_PER_QUESTION);
      round = List.copyOf(waiting.subList(0, count));
      waiting = new ArrayList<>(waiting.subList(count, waiting.size()));
    }
    leader
        .apply(new PeerQuery.RenewQuery(round.stream().map(Renewal::lease).toList()))
        .whenComplete(
            (answer, failure) -> {
              next();
              finish(round, answer, failure);
            });
  }

  private static void finish(List<Renewal> round, PeerAnswer answer, Throwable failure) {
    if (failure != null) {
      round.forEach(renewal -> renewal.ttl().completeExceptionally(failure));
    } else if (answer instanceof PeerAnswer.Renewed renewed
        && renewed.ttlSeconds().size() == round.size()) {
      for (int i = 0; i < round.size(); i++) {
        round.get(i).ttl().complete(renewed.ttlSeconds().get(i));
      }
    } else {
      round.forEach(renewal -> renewal.ttl().completeExceptionally(LeaderLeaseClient.refused(answer)));
    }
  }
}
