package io.troupe.actors.peers;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.actor.typed.ActorSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of an actor system with remoting. */
public final class Termination {
  private static final Logger LOG = LoggerFactory.getLogger(Termination.class);

  private Termination() {}

  /**
   * Ends its actors and waits for it. Remoting, which ends last, may wait for connections whose
   * other end is silent, and that is let go after some time, as a member's process does.
   */
  public static void of(ActorSystem<?> system) {
    system.terminate();
    try {
      system.getWhenTerminated().toCompletableFuture().get(12, TimeUnit.SECONDS);
    } catch (TimeoutException silent) {
      LOG.warn("remoting did not end in time system={}", system.address());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
