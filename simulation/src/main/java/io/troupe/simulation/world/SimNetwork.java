package io.troupe.simulation.world;

import io.troupe.model.NodeId;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The network between members, and between clients and members. Messages are late, get lost, come
 * twice and overtake each other; links are cut in one direction or both.
 */
public final class SimNetwork {
  private record Link(NodeId from, NodeId to) {}

  private final Scheduler scheduler;
  private final SplittableRandom random;
  private final Coverage coverage;
  private final Set<Link> cut = new HashSet<>();
  private final double lossNormally;
  private double loss;
  private long slowUs;

  SimNetwork(Scheduler scheduler, SplittableRandom random, Coverage coverage, double loss) {
    this.scheduler = scheduler;
    this.random = random;
    this.coverage = coverage;
    this.lossNormally = loss;
    this.loss = loss;
  }

  /** From now on nothing gets from one member to the other. */
  public void cut(NodeId from, NodeId to) {
    cut.add(new Link(from, to));
  }

  /** All links work again, and as fast and as badly as in the beginning. */
  public void heal() {
    cut.clear();
    loss = lossNormally;
    slowUs = 0;
  }

  /** Nothing gets lost or comes twice any more. */
  public void makePerfect() {
    heal();
    loss = 0;
  }

  /** From now on messages between members need up to this much longer. */
  public void slow(long extraUs) {
    slowUs = extraUs;
  }

  /** From now on this part of all messages gets lost. */
  public void lose(double part) {
    loss = part;
  }

  /** Brings a message between members, perhaps. */
  void send(NodeId from, NodeId to, Runnable delivery) {
    if (random.nextDouble() < loss) {
      coverage.count("messages lost");
      return;
    }
    scheduler.after(delay(), () -> deliver(from, to, delivery));
    if (loss > 0 && random.nextInt(60) == 0) {
      coverage.count("messages repeated");
      scheduler.after(delay() + random.nextInt(300_000), () -> deliver(from, to, delivery));
    }
  }

  private void deliver(NodeId from, NodeId to, Runnable delivery) {
    if (isCut(from, to)) {
      coverage.count("messages cut off");
    } else {
      delivery.run();
    }
  }

  boolean isCut(NodeId from, NodeId to) {
    return cut.contains(new Link(from, to));
  }

  /** Mostly quick, sometimes late enough to be overtaken by much. */
  private long delay() {
    long delay = 50L + random.nextInt(400);
    if (loss > 0 && random.nextInt(50) == 0) {
      delay += random.nextInt(40_000);
    }
    if (slowUs > 0) {
      delay += random.nextLong(slowUs);
    }
    return delay;
  }

  /** Brings something from a client to a member or back, perhaps. */
  void fromOrToClient(Runnable delivery) {
    if (random.nextDouble() < loss / 4) {
      coverage.count("client messages lost");
    } else {
      scheduler.after(50 + random.nextInt(500), delivery);
    }
  }

  /** How long the next piece of a stream to a client is in flight. */
  long streamDelay() {
    return 50L + random.nextInt(random.nextInt(50) == 0 ? 50_000 : 500);
  }
}
