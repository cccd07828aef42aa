package io.troupe.actors.peers;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.actor.typed.ActorSystem;

/** Waits for the end of an actor system with remoting: after it, its port is free. */
public final class TestEnd {
  private TestEnd() {}

  /** Ends it; fails if it does not end. */
  public static void await(ActorSystem<?> system) {
    try {
      Termination.of(system).toCompletableFuture().get(12, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("did not end: " + system.address(), e);
    }
  }
}
