package io.troupe.node;

import io.troupe.node.discovery.Discovery;
import io.troupe.node.discovery.DiscoveryException;
import io.troupe.node.discovery.DiscoverySettings;
import io.troupe.node.tls.TlsException;
import io.troupe.protocol.MemberIds;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Whom a member without data begins with: those of the setting, or those that discovery finds. */
final class FirstMembers {
  private FirstMembers() {}

  /**
   * Finds them; with discovery that takes until all are there.
   *
   * @throws StartException if this member is not one of them, or discovery refuses it
   */
  static InitialCluster of(NodeSettings settings) throws InterruptedException {
    Optional<DiscoverySettings> discovery = settings.discovery();
    if (discovery.isEmpty()) {
      return InitialCluster.of(settings);
    }
    // DI2: the token of the meeting is that of the cluster.
    String token = discovery.get().token();
    List<String> urls = settings.initialAdvertisePeerUrls().stream().sorted().toList();
    String own =
        urls.stream().map(url -> settings.name() + "=" + url).collect(Collectors.joining(","));
    try {
      String id = MemberIds.initial(urls, token).toString();
      return InitialCluster.of(
          settings, parsed(Discovery.join(discovery.get(), id, own)), token);
    } catch (DiscoveryException refused) {
      throw new StartException(ExitCode.UNEXPECTED, String.valueOf(refused.getMessage()), refused);
    } catch (TlsException wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.discovery cannot be used: " + wrong.getMessage(),
          wrong);
    }
  }

  /** What discovery gives is checked: name=url, with commas between them. */
  private static Map<String, List<String>> parsed(String cluster) {
    Map<String, List<String>> members = new LinkedHashMap<>();
    for (String part : cluster.split(",", -1)) {
      int equals = part.indexOf('=');
      members
          .computeIfAbsent(part.substring(0, equals), first -> new ArrayList<>())
          .add(part.substring(equals + 1));
    }
    return members;
  }
}
