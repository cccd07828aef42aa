package io.troupe.node.ports;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Selects the local address of connections to other members if the feature SetMemberLocalAddr is on
 * (4.3): for machines with several addresses of which the other members accept one.
 */
final class MemberLocalAddress {
  private static final Logger LOG = LoggerFactory.getLogger(MemberLocalAddress.class);

  /** An IP address, which needs no lookup. */
  private static final Pattern ADDRESS = Pattern.compile("[0-9]+(\\.[0-9]+){3}|.*:.*");

  private MemberLocalAddress() {}

  /**
   * Returns the first advertised host that is an IP address, neither loopback nor unspecified,
   * without brackets. Logs and returns empty if there is none.
   */
  static Optional<String> of(List<String> advertisedPeerUrls) {
    for (String url : advertisedPeerUrls) {
      String host = String.valueOf(URI.create(url).getHost()).replaceAll("[\\[\\]]", "");
      if (isUsable(host)) {
        LOG.info("setting member local address LocalAddr={}", host);
        return Optional.of(host);
      }
    }
    LOG.warn(
        "unable to set a member local address due to lack of suitable local addresses"
            + " advertise-peer-urls={}",
        advertisedPeerUrls);
    return Optional.empty();
  }

  private static boolean isUsable(String host) {
    if (!ADDRESS.matcher(host).matches()) {
      return false;
    }
    try {
      InetAddress address = InetAddress.getByName(host);
      return !address.isLoopbackAddress() && !address.isAnyLocalAddress();
    } catch (UnknownHostException noAddress) {
      return false;
    }
  }
}
