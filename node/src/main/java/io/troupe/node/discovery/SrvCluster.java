package io.troupe.node.discovery;

import io.troupe.node.discovery.Dns.Target;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the initial members in SRV records (DN1). All members must read the same records: an
 * uncertain result fails the start, because a member that finds fewer members would form a
 * different cluster.
 *
 * @source etcd, DNS discovery: services etcd-server-ssl and etcd-server
 */
public final class SrvCluster {
  private static final Logger LOG = LoggerFactory.getLogger(SrvCluster.class);

  private final Dns dns;
  private final String own;
  private final List<URI> advertised;
  private final Map<String, List<String>> members = new LinkedHashMap<>();
  private int number;

  SrvCluster(Dns dns, String own, List<String> advertised) {
    this.dns = dns;
    this.own = own;
    this.advertised = advertised.stream().map(URI::create).toList();
  }

  /**
   * Queries the name servers.
   *
   * @param own the name of this member
   * @param advertised its peer URLs
   * @return name to peer URLs; other members have numbers for names, and publish their names later
   * @throws DiscoveryException without a DNS response, or if this member is not in the records
   */
  public static Map<String, List<String>> find(
      SrvSettings settings, String own, List<String> advertised) {
    return new SrvCluster(new JndiDns(settings.server()), own, advertised).find(settings);
  }

  Map<String, List<String>> find(SrvSettings settings) {
    Set<String> seen = new HashSet<>();
    for (String scheme : List.of("https", "http")) {
      String record = settings.record(scheme);
      for (Target target : targets(record)) {
        String url = scheme + "://" + target.host() + ":" + target.port();
        if (!seen.add(url)) {
          throw new DiscoveryException(
              "discovery cluster " + members + " has duplicate url " + url);
        }
        String name = isOwn(target, scheme, record) ? own : next();
        members.computeIfAbsent(name, first -> new ArrayList<>()).add(url);
        LOG.info("got bootstrap from DNS for etcd-server node={}={}", name, url);
      }
    }
    if (members.isEmpty()) {
      throw new DiscoveryException(
          "error querying DNS SRV records: found neither "
              + settings.record("https")
              + " nor "
              + settings.record("http"));
    }
    if (!members.containsKey(own)) {
      throw new DiscoveryException(
          "cannot find local etcd member \""
              + own
              + "\" in SRV records: none of "
              + members.values()
              + " is "
              + advertised);
    }
    return members;
  }

  private List<Target> targets(String record) {
    try {
      List<Target> targets = dns.srv(record);
      LOG.info("queried SRV records name={} found={}", record, targets);
      return targets;
    } catch (IOException failed) {
      throw new DiscoveryException("error querying DNS SRV records: " + failed.getMessage());
    }
  }

  /** Returns the next number, except this member's name. */
  private String next() {
    String name = Integer.toString(number++);
    return name.equals(own) ? Integer.toString(number++) : name;
  }

  private boolean isOwn(Target target, String scheme, String record) {
    for (URI url : advertised) {
      if (url.getPort() == target.port() && isSameHost(url.getHost(), target.host())) {
        if (!scheme.equals(url.getScheme())) {
          throw new DiscoveryException(
              "bootstrap at "
                  + scheme
                  + "://"
                  + target.host()
                  + ":"
                  + target.port()
                  + " from DNS for "
                  + record
                  + " has scheme mismatch with expected peer "
                  + url);
        }
        return true;
      }
    }
    return false;
  }

  private boolean isSameHost(String advertised, String target) {
    return advertised.equalsIgnoreCase(target)
        || !Collections.disjoint(dns.addresses(advertised), dns.addresses(target));
  }
}
