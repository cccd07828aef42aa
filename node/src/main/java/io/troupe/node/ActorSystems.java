package io.troupe.node;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;

/** Starts and stops the actor system of a member. */
final class ActorSystems {
  private static final String NAME = "troupe";
  private static final long MAX_RESOLUTION_MS = 20;

  private ActorSystems() {}

  /**
   * Resolution of timers, a fifth of a heartbeat interval. The timer thread wakes up so often, also
   * when nothing is due: with Pekko's 10 ms it is a third of the CPU time of an idle member.
   */
  static Duration timerResolution(Duration heartbeatInterval) {
    return Duration.ofMillis(
        Math.max(1, Math.min(MAX_RESOLUTION_MS, heartbeatInterval.toMillis() / 5)));
  }

  /**
   * Starts the actor system. A separate thread starts it: the waiting thread may be interrupted,
   * and an incomplete actor system cannot be stopped.
   *
   * @param heartbeatInterval shortest interval that must be regular
   * @return the started system, also if the caller was interrupted meanwhile: then its interrupt
   *     flag is set
   */
  static ActorSystem<Void> start(
      Config config, Duration heartbeatInterval, Behavior<Void> guardian) {
    Config timers =
        ConfigFactory.parseMap(
            Map.of("pekko.scheduler.tick-duration", timerResolution(heartbeatInterval)));
    ActorSystemSetup setup =
        ActorSystemSetup.create(BootstrapSetup.create(timers.withFallback(config)));
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
