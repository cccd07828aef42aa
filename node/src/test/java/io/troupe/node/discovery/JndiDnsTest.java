package io.troupe.node.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.node.discovery.Dns.Target;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The JDK's DNS client against a server on loopback. */
@Timeout(60)
class JndiDnsTest {
  private static final String HTTP = "_etcd-server._tcp.example.org";

  private final NameServer server = new NameServer();
  private final JndiDns dns = new JndiDns(server.address());

  JndiDnsTest() throws SocketException {}

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void lookupReturnsAllRecords() throws IOException {
    server.put(HTTP, List.of("a.example.org:2380", "b.x:65535"));
    assertThat(dns.srv(HTTP))
        .containsExactlyInAnyOrder(new Target("a.example.org", 2380), new Target("b.x", 65535));
  }

  @Test
  void unknownNameHasNoRecords() throws IOException {
    assertThat(dns.srv(HTTP)).isEmpty();
    server.put(HTTP, List.of());
    assertThat(dns.srv(HTTP)).isEmpty();
  }

  @Test
  void serverFailureIsNotEmptyResult() {
    server.fail();
    assertThatThrownBy(() -> dns.srv(HTTP))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("lookup " + HTTP + " fails: ");
  }

  @Test
  void addressesMatchSystemResolver() throws IOException {
    assertThat(dns.addresses("127.0.0.1")).containsExactly(InetAddress.getAllByName("127.0.0.1"));
    assertThat(dns.addresses("nowhere.invalid")).isEmpty();
  }

  @Test
  void srvRecordsFormCluster_DN1() {
    server.put(HTTP, List.of("127.0.0.1:2380"));
    assertThat(
            SrvCluster.find(
                new SrvSettings("example.org", "", server.address()),
                "n1",
                List.of("http://127.0.0.1:2380")))
        .isEqualTo(Map.of("n1", List.of("http://127.0.0.1:2380")));
  }
}
