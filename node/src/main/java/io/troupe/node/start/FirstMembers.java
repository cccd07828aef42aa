package io.troupe.node.start;

import io.troupe.node.config.NodeSettings;
import io.troupe.node.discovery.Discovery;
import io.troupe.node.discovery.DiscoveryException;
import io.troupe.node.discovery.DiscoverySettings;
import io.troupe.node.discovery.SrvCluster;
import io.troupe.node.discovery.SrvSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.tls.TlsException;
import io.troupe.protocol.MemberIds;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Finds the initial members for a member without data: from the setting, from SRV records, or
 * through discovery.
 */
final class FirstMembers {
  private FirstMembers() {}

  /**
   * Finds the initial members. With discovery it waits until all of them have registered.
   *
   * @throws StartException if this member is not one of them, or discovery refuses it
   */
  static InitialCluster of(NodeSettings settings) throws InterruptedException {
    Optional<DiscoverySettings> discovery = settings.discovery();
    if (discovery.isEmpty()) {
      return settings.srv().isPresent()
          ? named(settings.srv().get(), settings)
          : InitialCluster.of(settings);
    }
    // DI2: the discovery token is the cluster token.
    String token = discovery.get().token();
    List<String> urls = settings.initialAdvertisePeerUrls().stream().sorted().toList();
    String own =
        urls.stream().map(url -> settings.name() + "=" + url).collect(Collectors.joining(","));
    String id = MemberIds.initial(urls, token).toString();
    try {
      return InitialCluster.of(settings, Discovery.join(discovery.get(), id, own), token);
    } catch (DiscoveryException refused) {
      throw failed(refused);
    } catch (TlsException wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.discovery cannot be used: " + wrong.getMessage(),
          wrong);
    }
  }

  private static InitialCluster named(SrvSettings srv, NodeSettings settings) {
    try {
      return InitialCluster.of(
          settings,
          SrvCluster.find(srv, settings.name(), settings.initialAdvertisePeerUrls()),
          settings.initialClusterToken());
    } catch (DiscoveryException refused) {
      throw failed(refused);
    }
  }

  private static StartException failed(DiscoveryException refused) {
    return new StartException(ExitCode.UNEXPECTED, String.valueOf(refused.getMessage()), refused);
  }
}
