package io.troupe.node;

import com.typesafe.config.Config;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;

/** Starts and stops the actor system of a member. */
final class ActorSystems {
  private static final String NAME = "troupe";

  private ActorSystems() {}

  /**
   * Starts the actor system. A separate thread starts it: the waiting thread may be interrupted,
   * and an incomplete actor system cannot be stopped.
   *
   * @return the started system, also if the caller was interrupted meanwhile: then its interrupt
   *     flag is set
   */
  static ActorSystem<Void> start(Config config, Behavior<Void> guardian) {
    ActorSystemSetup setup = ActorSystemSetup.create(BootstrapSetup.create(config));
    return CompletableFuture.supplyAsync(
            () -> ActorSystem.create(guardian, NAME, setup),
            creation -> new Thread(creation, "actor-system").start())
        .join();
  }

  /** Stops the actor system; completes when it has stopped. */
  static CompletableFuture<Done> stopped(ActorSystem<?> system) {
    system.terminate();
    return system.getWhenTerminated().toCompletableFuture();
  }
}
