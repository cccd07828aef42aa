package io.troupe.node;

import com.typesafe.config.Config;
import io.troupe.actors.member.MemberGuardian;
import io.troupe.actors.peers.ArteryQueries;
import io.troupe.actors.peers.PeerAddress;
import io.troupe.actors.peers.PeerConfig;
import io.troupe.actors.peers.PeerDirectory;
import io.troupe.actors.peers.PeerEngines;
import io.troupe.actors.peers.PeerTls;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.remote.RemoteTransportException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the remoting between members from the settings. */
final class Remoting {
  private static final Logger LOG = LoggerFactory.getLogger(Remoting.class);

  private Remoting() {}

  /**
   * Starts the actor system, and with it the peer port. A separate thread starts it: the waiting
   * thread may be interrupted, and an incomplete actor system cannot be stopped.
   *
   * @return the started system, also if the caller was interrupted meanwhile: then its interrupt
   *     flag is set
   */
  static ActorSystem<Void> start(
      NodeSettings settings,
      Config config,
      Optional<PeerEngines> peerTls,
      Behavior<Void> guardian) {
    ActorSystemSetup setup = ActorSystemSetup.create(BootstrapSetup.create(config));
    try {
      return CompletableFuture.supplyAsync(
              () ->
                  ActorSystem.create(
                      guardian,
                      PeerConfig.SYSTEM,
                      peerTls
                          .map(engines -> setup.withSetup(PeerTls.setup(engines)))
                          .orElse(setup)),
              creation -> new Thread(creation, "remoting").start())
          .join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RemoteTransportException refused) {
        throw new StartException(
            ExitCode.ADDRESS,
            "cannot listen on troupe.listen-peer-urls = "
                + settings.boundPeerUrl()
                + ": "
                + String.valueOf(refused.getMessage()),
            refused);
      }
      throw e;
    }
  }

  /** Returns how the actors find other members. */
  static MemberGuardian.Peering peering(
      NodeSettings settings, CompletableFuture<ArteryQueries> queries) {
    PeerDirectory directory = new PeerDirectory();
    return new MemberGuardian.Peering(
        directory,
        settings.peerUrl(),
        membership -> LOG.debug("membership changed members={}", membership.members()),
        queries);
  }

  /**
   * Canonical is the address that other members use, bound is the address that this member listens
   * on: see docs/components.
   */
  static Config config(NodeSettings settings) {
    try {
      Config peers =
          PeerConfig.of(
              PeerAddress.of(settings.peerUrl()),
              PeerAddress.of(settings.boundPeerUrl()),
              PeerAddress.isTls(settings.peerUrl()));
      if (!settings.features().isOn(FeatureGates.Feature.SetMemberLocalAddr)) {
        return peers;
      }
      Optional<String> local = MemberLocalAddress.of(settings.initialAdvertisePeerUrls());
      return local.map(host -> PeerConfig.from(host).withFallback(peers)).orElse(peers);
    } catch (IllegalArgumentException wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.listen-peer-urls or troupe.initial-advertise-peer-urls is wrong: "
              + wrong.getMessage(),
          wrong);
    }
  }
}
