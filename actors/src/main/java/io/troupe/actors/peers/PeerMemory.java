package io.troupe.actors.peers;

import com.typesafe.config.Config;
import io.troupe.metrics.LabelledValues;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.typed.ActorSystem;

/**
 * Memory that traffic between members may take: three parts of one budget, three sixteenths of the
 * heap unless configured, so that a part that is full never stops the others. Thread-safe.
 */
public final class PeerMemory {
  /** Size of the whole budget; without this key it follows from the heap. */
  static final String CONFIGURED = "troupe-peers.memory-bytes";

  private final Part frames;
  private final Part fragments;
  private final Part outbound;

  /**
   * A budget of which nothing is taken.
   *
   * @param maxBytes of all parts
   */
  PeerMemory(long maxBytes) {
    frames = new Part(maxBytes / 6);
    fragments = new Part(maxBytes / 2);
    outbound = new Part(maxBytes / 3);
  }

  static PeerMemory of(Config config) {
    return new PeerMemory(
        config.hasPath(CONFIGURED)
            ? config.getBytes(CONFIGURED)
            : Runtime.getRuntime().maxMemory() / 16 * 3);
  }

  /** That of an actor system with remoting. */
  public static PeerMemory of(ActorSystem<?> system) {
    return PeerPortExtension.of((ExtendedActorSystem) system.classicSystem()).memory();
  }

  /** A part of the budget. Thread-safe. */
  static final class Part {
    private final long maxBytes;
    private final AtomicLong taken = new AtomicLong();
    private final LongAdder refused = new LongAdder();

    private Part(long maxBytes) {
      this.maxBytes = maxBytes;
    }

    /** Takes bytes if they fit; false if they do not, and nothing is taken. */
    boolean tryTake(long bytes) {
      if (taken.addAndGet(bytes) <= maxBytes) {
        return true;
      }
      taken.addAndGet(-bytes);
      return false;
    }

    /** Takes bytes that are there already, or gives back. */
    void change(long bytes) {
      taken.addAndGet(bytes);
    }

    boolean isExceeded() {
      return taken.get() > maxBytes;
    }

    long taken() {
      return taken.get();
    }

    /** Something was dropped for lack of memory. */
    void refused() {
      refused.increment();
    }
  }

  /** Frames that are not complete, on all connections that others opened. */
  Part frames() {
    return frames;
  }

  /** Messages of several frames that are not complete. */
  Part fragments() {
    return fragments;
  }

  /** Messages that wait for the connections to other members. */
  Part outbound() {
    return outbound;
  }

  private Map<String, Part> parts() {
    return Map.of("frames", frames, "fragments", fragments, "outbound", outbound);
  }

  /** Bytes that are taken now, by part. */
  public void taken(LabelledValues.Target target) {
    parts().forEach((name, part) -> target.value((double) part.taken(), name));
  }

  /** Most bytes that are taken, by part. */
  public void limits(LabelledValues.Target target) {
    parts().forEach((name, part) -> target.value((double) part.maxBytes, name));
  }

  /** What was dropped because a part was full: connections, or messages. */
  public void dropped(LabelledValues.Target target) {
    parts().forEach((name, part) -> target.value((double) part.refused.sum(), name));
  }
}
