package io.troupe.node.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.node.discovery.Dns.Target;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Clusters from SRV records (DN1). */
class SrvClusterTest {
  private static final SrvSettings DOMAIN = new SrvSettings("example.org", "", "");
  private static final String HTTP = "_etcd-server._tcp.example.org";
  private static final String HTTPS = "_etcd-server-ssl._tcp.example.org";

  private final Map<String, List<Target>> records = new HashMap<>();
  private final Map<String, String> addresses = new HashMap<>();

  private final Dns dns =
      new Dns() {
        @Override
        public List<Target> srv(String name) throws IOException {
          if (name.equals(broken)) {
            throw new IOException("lookup " + name + " fails: timeout");
          }
          return records.getOrDefault(name, List.of());
        }

        @Override
        public Set<InetAddress> addresses(String host) {
          try {
            return addresses.containsKey(host)
                ? Set.of(InetAddress.getByName(addresses.get(host)))
                : Set.of();
          } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
          }
        }
      };

  private String broken = "";

  private Map<String, List<String>> find(SrvSettings settings, String own, String... advertised) {
    return new SrvCluster(dns, own, List.of(advertised)).find(settings);
  }

  @Test
  void recordWithOwnAddressGetsOwnName() {
    records.put(
        HTTP, List.of(new Target("a.x", 2380), new Target("b.x", 2380), new Target("c.x", 2380)));
    addresses.putAll(Map.of("a.x", "10.0.0.1", "b.x", "10.0.0.2", "c.x", "10.0.0.3"));
    addresses.put("10.0.0.2", "10.0.0.2");
    Map<String, List<String>> expected =
        Map.of(
            "0", List.of("http://a.x:2380"),
            "n1", List.of("http://b.x:2380"),
            "1", List.of("http://c.x:2380"));
    assertThat(find(DOMAIN, "n1", "http://10.0.0.2:2380")).isEqualTo(expected);
    // Its own name matches, whatever address the name servers return.
    addresses.clear();
    assertThat(find(DOMAIN, "n1", "http://B.x:2380")).isEqualTo(expected);
  }

  @Test
  void ownRecordMustMatchPort() {
    records.put(HTTP, List.of(new Target("a.x", 1), new Target("a.x", 2)));
    assertThat(find(DOMAIN, "n1", "http://a.x:2"))
        .isEqualTo(Map.of("0", List.of("http://a.x:1"), "n1", List.of("http://a.x:2")));
  }

  @Test
  void bothServicesAreMerged() {
    records.put(HTTPS, List.of(new Target("a.x", 1), new Target("b.x", 1)));
    records.put(HTTP, List.of(new Target("c.x", 1)));
    assertThat(find(DOMAIN, "n1", "https://b.x:1"))
        .isEqualTo(
            Map.of(
                "0", List.of("https://a.x:1"),
                "n1", List.of("https://b.x:1"),
                "1", List.of("http://c.x:1")));
  }

  @Test
  void suffixIsAppendedToServiceNames() {
    records.put("_etcd-server-ssl-blue._tcp.example.org", List.of(new Target("a.x", 1)));
    records.put("_etcd-server-blue._tcp.example.org", List.of(new Target("b.x", 1)));
    records.put(HTTP, List.of(new Target("c.x", 1)));
    assertThat(find(new SrvSettings("example.org", "blue", ""), "n1", "https://a.x:1"))
        .isEqualTo(Map.of("n1", List.of("https://a.x:1"), "0", List.of("http://b.x:1")));
  }

  /** A member that cannot be resolved now is still a member: its peers count it too. */
  @Test
  void hostWithoutAddressIsMember() {
    records.put(HTTP, List.of(new Target("lost.x", 1), new Target("a.x", 1)));
    assertThat(find(DOMAIN, "n1", "http://a.x:1"))
        .isEqualTo(Map.of("0", List.of("http://lost.x:1"), "n1", List.of("http://a.x:1")));
  }

  @Test
  void numberMayBeOwnName() {
    records.put(HTTP, List.of(new Target("b.x", 1), new Target("a.x", 1)));
    assertThat(find(DOMAIN, "0", "http://a.x:1"))
        .isEqualTo(Map.of("1", List.of("http://b.x:1"), "0", List.of("http://a.x:1")));
  }

  private void refused(String text, String... advertised) {
    assertThatThrownBy(() -> find(DOMAIN, "n1", advertised))
        .isInstanceOf(DiscoveryException.class)
        .hasMessageContaining(text);
  }

  @Test
  void schemeMustMatch() {
    records.put(HTTP, List.of(new Target("a.x", 1)));
    refused(
        "bootstrap at http://a.x:1 from DNS for "
            + HTTP
            + " has scheme mismatch with expected peer https://a.x:1",
        "https://a.x:1");
  }

  @Test
  void memberMissingInRecordsIsRefused() {
    records.put(HTTP, List.of(new Target("a.x", 1)));
    refused("cannot find local etcd member \"n1\" in SRV records", "http://b.x:1");
  }

  @Test
  void missingRecordsStopStart() {
    refused("found neither " + HTTPS + " nor " + HTTP, "http://a.x:1");
  }

  /** A partial result would be another cluster. */
  @Test
  void failedLookupStopsStart() {
    records.put(HTTP, List.of(new Target("a.x", 1)));
    broken = HTTPS;
    refused("error querying DNS SRV records: lookup " + HTTPS + " fails: timeout", "http://a.x:1");
  }

  @Test
  void duplicateRecordIsUsedOnce() {
    records.put(HTTP, List.of(new Target("a.x", 1), new Target("a.x", 1)));
    refused("has duplicate url http://a.x:1", "http://a.x:1");
  }
}
