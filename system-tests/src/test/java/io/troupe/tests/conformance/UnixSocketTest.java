package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.tls.TestAuthority;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TL7: clients over unix sockets, with etcdctl and curl (Debian packages) and raw bytes. */
class UnixSocketTest {
  /** Under /tmp: the path of a socket must be short. */
  @TempDir Path directory = Path.of("");

  private final Map<String, Object> settings = new HashMap<>();

  @BeforeEach
  void settings() {
    settings.put("listen-client-urls", List.of(url("unix", "a")));
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(directory.toFile().list((dir, name) -> name.endsWith(".sock"))).isEmpty();
  }

  private Path socket(String name) {
    return directory.resolve(name + ".sock");
  }

  private String url(String scheme, String name) {
    return scheme + "://" + socket(name);
  }

  private RunningNode start() throws InterruptedException {
    Map<String, Object> keys = TestConfig.alone(directory.resolve("data"));
    settings.forEach((key, value) -> keys.put("troupe." + key, value));
    Config config = TestConfig.of(keys);
    RunningNode node =
        RunningNode.start(
            config,
            failure -> {
              throw new AssertionError("the member cannot continue", failure);
            });
    node.awaitReady();
    return node;
  }

  /** Standard output and error of a program that must succeed. */
  private String run(String... command) {
    try (NodeProcess program =
        NodeProcess.program(directory, command).environment("ETCDCTL_API", "3").start()) {
      assertThat(program.awaitExit()).as("%s", program).isZero();
      return program.out() + program.err();
    }
  }

  private String etcdctl(String endpoint, String... args) {
    List<String> command = new ArrayList<>(List.of("etcdctl", "--endpoints=" + endpoint));
    command.addAll(List.of(args));
    return run(command.toArray(String[]::new));
  }

  private String curl(String name, String url, String... args) {
    List<String> command =
        new ArrayList<>(
            List.of("curl", "-sS", "--max-time", "20", "--unix-socket", socket(name).toString()));
    command.addAll(List.of(args));
    command.add(url);
    return run(command.toArray(String[]::new));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void etcdctlAndCurlUseSocket_TL7() throws Exception {
    // As in etcd's own tests: a file of that name in the working directory.
    String here = "unix://localhost:" + FreePort.next();
    settings.put("listen-client-urls", List.of(url("unix", "a"), here, "http://127.0.0.1:0"));
    settings.put("advertise-client-urls", List.of(url("unix", "a"), "unix://localhost:2379"));
    settings.put("listen-metrics-urls", List.of(url("unix", "m")));
    try (RunningNode node = start();
        ApiClient tcp = new ApiClient("127.0.0.1:" + node.clientPorts().get(0))) {
      assertThat(node.clientPorts()).hasSize(1);
      assertThat(etcdctl(here, "put", "k", "over a socket")).isEqualTo("OK\n");
      assertThat(tcp.record("k").getValue().toStringUtf8()).isEqualTo("over a socket");
      tcp.put("k", "over TCP");
      assertThat(etcdctl(here, "get", "k")).isEqualTo("k\nover TCP\n");
      assertThat(
              tcp.call(Api.MEMBER_LIST, MemberListRequest.getDefaultInstance())
                  .getMembers(0)
                  .getClientURLsList())
          .containsExactly(url("unix", "a"), "unix://localhost:2379");

      assertThat(curl("a", "http://localhost/health")).contains("\"health\":\"true\"");
      assertThat(
              curl("a", "http://localhost/v3/kv/range", "-d", "{\"key\":\"" + base64("k") + "\"}"))
          .contains(base64("over TCP"));
      assertThat(
              curl("a", "http://localhost/version", "--http2-prior-knowledge", "-o", "/dev/null"))
          .isEmpty();
      assertThat(curl("m", "http://localhost/metrics")).contains("etcd_server_has_leader 1");
      assertThat(curl("m", "http://localhost/version", "-w", "%{http_code}")).endsWith("404");
    }
  }

  @Test
  void unixsUrlUsesTls_TL7() throws Exception {
    TestAuthority authority = new TestAuthority(directory, "authority");
    Issued server = authority.issue("server", "server", KeyForm.EC_SEC1, "127.0.0.1", "localhost");
    Issued client = authority.issue("client", "client", KeyForm.EC_PKCS8, "elsewhere.example");
    String block = "client-transport-security.";
    settings.put(block + "cert-file", server.cert().toString());
    settings.put(block + "key-file", server.key().toString());
    settings.put(block + "trusted-ca-file", authority.file().toString());
    settings.put(block + "client-cert-auth", true);
    String here = "unixs://localhost:" + FreePort.next();
    settings.put(
        "listen-client-urls", List.of(url("unixs", "s"), url("unix", "p"), here, url("unix", "s")));
    settings.put("listen-metrics-urls", List.of(url("unixs", "m")));
    try (RunningNode node = start()) {
      assertThat(node.clientPorts()).isEmpty();
      String[] shown = {
        "--cacert", authority.file().toString(),
        "--cert", client.cert().toString(),
        "--key", client.key().toString()
      };
      assertThat(
              etcdctl(
                  here,
                  "--cacert=" + authority.file(),
                  "--cert=" + client.cert(),
                  "--key=" + client.key(),
                  "put",
                  "k",
                  "v"))
          .isEqualTo("OK\n");
      assertThat(curl("s", "https://localhost/health", shown)).contains("true");
      assertThat(curl("p", "http://localhost/health")).contains("true");
      assertThat(curl("s", "http://localhost/health")).as("T2: both").contains("true");
      // TL2 has no address to check.
      assertThat(curl("m", "https://localhost/health", shown)).contains("true");
      try (NodeProcess without =
          NodeProcess.program(
                  directory,
                  "curl",
                  "-sS",
                  "--cacert",
                  authority.file().toString(),
                  "--unix-socket",
                  socket("s").toString(),
                  "https://localhost/health")
              .start()) {
        assertThat(without.awaitExit()).isNotZero();
      }
    }
  }

  @Test
  void disconnectReleasesLock_TL7() throws Exception {
    settings.put("listen-client-urls", List.of(url("unix", "a"), "http://127.0.0.1:0"));
    try (RunningNode node = start();
        ApiClient tcp = new ApiClient("127.0.0.1:" + node.clientPorts().get(0))) {
      tcp.call(NamesApi.LOCK, NamesApi.lock("lock", tcp.grant(600).getID()));
      String body =
          "{\"name\":\"" + base64("lock") + "\",\"lease\":" + tcp.grant(600).getID() + "}";
      try (SocketChannel waits = connect("a")) {
        write(
            waits,
            "POST /v3/lock/lock HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                + body.length()
                + "\r\n\r\n"
                + body);
        ServedStore.await().until(() -> tcp.range(Requests.prefix("lock")).getCount() == 2);
      }
      ServedStore.await().until(() -> tcp.range(Requests.prefix("lock")).getCount() == 1);
    }
  }

  private SocketChannel connect(String name) throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(socket(name)));
  }

  private static void write(SocketChannel channel, String text) throws IOException {
    channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void usedSocketIsRefusedAndStaleSocketReplaced() throws Exception {
    try (RunningNode node = start()) {
      settings.put("data-dir", directory.resolve("other").toString());
      String peer = "http://127.0.0.1:" + FreePort.next();
      settings.put("listen-peer-urls", List.of(peer));
      settings.put("initial-advertise-peer-urls", List.of(peer));
      settings.put("listen-client-urls", List.of(url("unix", "b"), url("unix", "a")));
      assertThatThrownBy(this::start)
          .isInstanceOfSatisfying(
              StartException.class,
              refused -> assertThat(refused.exitCode()).isEqualTo(ExitCode.ADDRESS))
          .hasMessage(
              "cannot listen on troupe.listen-client-urls = "
                  + url("unix", "a")
                  + ": another process serves "
                  + socket("a"));
      assertThat(socket("b")).as("what was opened before is closed").doesNotExist();
      assertThat(curl("a", "http://localhost/health")).contains("true");
    }
    Files.writeString(socket("a"), "precious");
    assertThatThrownBy(this::start).hasMessageEndingWith(socket("a") + " exists and is no socket");
    assertThat(socket("a")).hasContent("precious");
    Files.delete(socket("a"));
    settings.put("listen-client-urls", List.of(url("unix", "a")));
    try (RunningNode again = start()) {
      assertThat(curl("a", "http://localhost/health")).contains("true");
    }
  }
}
