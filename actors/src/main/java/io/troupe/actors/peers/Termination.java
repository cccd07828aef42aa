package io.troupe.actors.peers;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pekko.Done;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Adapter;
import org.apache.pekko.remote.RemoteActorRefProvider;
import org.apache.pekko.remote.artery.tcp.ArteryTcpTransport;

/**
 * The end of an actor system with remoting. Artery ends last, and waits for its streams to end; one
 * over TLS that comes to its end waits for the other side to close, which a side that only listens
 * never does. The system would not end then, and its port would stay bound.
 */
public final class Termination {
  /** More than Artery takes to tell its peers, {@code shutdown-flush-timeout}. */
  private static final Duration FLUSHED = Duration.ofMillis(200);

  private Termination() {}

  /** Ends its actors, then what goes between members; done when the port is free. */
  public static CompletionStage<Done> of(ActorSystem<?> system) {
    CompletionStage<Done> terminated = system.getWhenTerminated();
    if (terminated.toCompletableFuture().isDone()) {
      return terminated;
    }
    ArteryTcpTransport transport = transport((ExtendedActorSystem) Adapter.toClassic(system));
    AtomicBoolean ending = new AtomicBoolean();
    system
        .scheduler()
        .scheduleWithFixedDelay(
            FLUSHED,
            FLUSHED,
            () -> {
              // The second time: its streams had time to end by themselves.
              if (transport.isShutdown() && ending.getAndSet(true)) {
                transport.materializer().shutdown();
                transport.controlMaterializer().shutdown();
              }
            },
            system.executionContext());
    system.terminate();
    return terminated;
  }

  static ArteryTcpTransport transport(ExtendedActorSystem system) {
    return (ArteryTcpTransport) ((RemoteActorRefProvider) system.provider()).transport();
  }
}
