package io.troupe.node.ports;

import io.troupe.actors.member.MemberGuardian;
import io.troupe.actors.peers.PeerAddress;
import io.troupe.actors.peers.PeerDirectory;
import io.troupe.actors.peers.PeerListener;
import io.troupe.actors.peers.PeerNetwork;
import io.troupe.actors.peers.PeerTls;
import io.troupe.actors.peers.SocketQueries;
import io.troupe.edge.unix.UnixSocketFile;
import io.troupe.node.config.FeatureGates;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the connections between members from the settings. */
public final class Peers {
  private static final Logger LOG = LoggerFactory.getLogger(Peers.class);

  private Peers() {}

  /**
   * Opens the peer ports.
   *
   * @param memoryBytes limit for messages in flight; 0: from the heap
   * @param broken called if a port fails later
   * @throws StartException if a setting is wrong or a port cannot be opened
   */
  public static PeerNetwork open(
      NodeSettings settings, long memoryBytes, Consumer<Throwable> broken) {
    PeerNetwork.Settings network = network(settings, memoryBytes);
    Optional<PeerTls> tls = MemberTls.of(settings);
    List<PeerListener> ports = new ArrayList<>();
    for (URI url : settings.boundPeerUrls()) {
      try {
        ports.add(listen(PeerAddress.of(url.toString())));
      } catch (IOException refused) {
        ports.forEach(Peers::close);
        throw new StartException(
            ExitCode.ADDRESS,
            "cannot listen on troupe.listen-peer-urls = " + url + ": " + refused.getMessage(),
            refused);
      }
    }
    return PeerNetwork.open(network, ports, tls.orElse(null), broken);
  }

  private static PeerListener listen(PeerAddress address) throws IOException {
    return address.socket() == null
        ? PeerListener.tcp(address, PeerNetwork.BACKLOG)
        : new UnixPeerListener(UnixSocketFile.open(address.socket(), PeerNetwork.BACKLOG));
  }

  private static void close(PeerListener port) {
    try {
      port.close();
    } catch (IOException e) {
      LOG.debug("the peer port did not close", e);
    }
  }

  /** This member may listen on other URLs than it advertises, behind a proxy. */
  static PeerNetwork.Settings network(NodeSettings settings, long memoryBytes) {
    try {
      settings.initialAdvertisePeerUrls().forEach(PeerAddress::of);
      settings.boundPeerUrls().forEach(url -> PeerAddress.of(url.toString()));
      Optional<String> local =
          settings.features().isOn(FeatureGates.Feature.SetMemberLocalAddr)
              ? MemberLocalAddress.of(settings.initialAdvertisePeerUrls())
              : Optional.empty();
      return new PeerNetwork.Settings(
          settings.peerUrl(), local.orElse(null), memoryBytes, settings.versions().server());
    } catch (IllegalArgumentException wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.listen-peer-urls or troupe.initial-advertise-peer-urls is wrong: "
              + wrong.getMessage(),
          wrong);
    }
  }

  /** Returns how the actors find other members. */
  public static MemberGuardian.Peering peering(
      NodeSettings settings, PeerNetwork network, CompletableFuture<SocketQueries> queries) {
    return new MemberGuardian.Peering(
        network,
        new PeerDirectory(),
        settings.peerUrl(),
        membership -> LOG.debug("membership changed members={}", membership.members()),
        queries);
  }
}
