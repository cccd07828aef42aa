package io.troupe.node;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The own address that connections to other members come from where the feature SetMemberLocalAddr
 * is on (4.3): for machines with several, of which the others know one.
 */
final class MemberLocalAddress {
  private static final Logger LOG = LoggerFactory.getLogger(MemberLocalAddress.class);

  /** What is no name and needs no lookup. */
  private static final Pattern ADDRESS = Pattern.compile("[0-9]+(\\.[0-9]+){3}|.*:.*");

  private MemberLocalAddress() {}

  /**
   * The first advertised host that is an address, neither of the loopback nor unspecified; without
   * brackets. Empty if there is none, and the log says so.
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
