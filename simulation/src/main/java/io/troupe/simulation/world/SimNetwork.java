package io.troupe.simulation.world;

import io.troupe.model.NodeId;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The network between members, and between clients and members. Messages may be delayed, lost,
 * duplicated and reordered. Links may be cut in one direction or both.
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
  private boolean perfect;

  SimNetwork(Scheduler scheduler, SplittableRandom random, Coverage coverage, double loss) {
    this.scheduler = scheduler;
    this.random = random;
    this.coverage = coverage;
    this.lossNormally = loss;
    this.loss = loss;
  }

  /** Cuts the link from one member to the other. */
  public void cut(NodeId from, NodeId to) {
    cut.add(new Link(from, to));
  }

  /** Restores all links, with their initial delay and loss. */
  public void heal() {
    cut.clear();
    loss = lossNormally;
    slowUs = 0;
  }

  /** Stops loss and duplication. */
  public void makePerfect() {
    perfect = true;
    heal();
    loss = 0;
  }

  /** Delays messages between members by up to this much more from now on. */
  public void slow(long extraUs) {
    slowUs = extraUs;
  }

  /** Loses this part of all messages from now on. */
  public void lose(double part) {
    loss = part;
  }

  /** Delivers a message between members, unless it is lost. */
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

  /** Mostly short, sometimes long enough to be overtaken by many messages. */
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

  /** Delivers a request or an outcome between a client and a member, unless it is lost. */
  void fromOrToClient(Runnable delivery) {
    if (random.nextDouble() < loss / 4) {
      coverage.count("client messages lost");
    } else {
      scheduler.after(50 + random.nextInt(500), delivery);
    }
  }

  /** Delay of the next piece of a stream to a client. */
  long streamDelay() {
    return 50L + random.nextInt(random.nextInt(50) == 0 ? 50_000 : 500);
  }

  /** True after the faults ended: nothing is lost. */
  boolean isPerfect() {
    return perfect;
  }
}
