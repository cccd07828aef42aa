package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import io.troupe.node.discovery.DiscoveryException;
import io.troupe.node.discovery.NameServer;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.protocol.MemberIds;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Members that find their peers through a registry cluster (section 8.1). */
@Timeout(120)
class DiscoveredClusterTest {
  private static final String ROOT = "/_etcd/registry/";

  @TempDir Path directory = Path.of("");

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpClient http = HttpClient.newHttpClient();
  private final List<RunningNode> members = new ArrayList<>();
  private String endpoint = "";
  private String token = "";
  private AutoCloseable registry = () -> {};

  @BeforeEach
  void start() throws Exception {
    RunningNode node = run(TestConfig.of(settings("registry"))).get(60, TimeUnit.SECONDS);
    registry = node;
    node.awaitReady();
    endpoint = "http://127.0.0.1:" + node.clientPorts().get(0);
  }

  @AfterEach
  void stop() throws Exception {
    members.forEach(RunningNode::close);
    registry.close();
    threads.shutdownNow();
  }

  private Map<String, Object> settings(String name) {
    Map<String, Object> settings = TestConfig.alone(directory.resolve(name));
    settings.put("troupe.name", name);
    return settings;
  }

  private static String peerUrl(Map<String, Object> settings) {
    return TestConfig.of(settings).getStringList("troupe.initial-advertise-peer-urls").get(0);
  }

  private Map<String, Object> discovered(String name) {
    Map<String, Object> settings = settings(name);
    settings.put("troupe.discovery.token", "t");
    settings.put("troupe.discovery.endpoints", List.of(endpoint));
    return settings;
  }

  private CompletableFuture<RunningNode> run(Config config) {
    return CompletableFuture.supplyAsync(
        () ->
            RunningNode.start(
                config,
                failure -> {
                  throw new AssertionError(failure);
                }),
        threads);
  }

  private RunningNode started(CompletableFuture<RunningNode> starting) throws Exception {
    RunningNode node = starting.get(60, TimeUnit.SECONDS);
    members.add(node);
    return node;
  }

  private Config post(String path, String body) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(endpoint + path))
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (!token.isEmpty()) {
      request.header("Authorization", token);
    }
    HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return ConfigFactory.parseString(
        answer.body(), ConfigParseOptions.defaults().setSyntax(ConfigSyntax.JSON));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }

  /** Creates the size key as an operator does. */
  private void size(int size) throws IOException, InterruptedException {
    post(
        "/v3/kv/put",
        "{\"key\":\""
            + base64(ROOT + "t/_config/size")
            + "\",\"value\":\""
            + base64(Integer.toString(size))
            + "\"}");
  }

  /** The members in the registry, by key. */
  private Map<String, String> registered() {
    try {
      Config found =
          post(
              "/v3/kv/range",
              "{\"key\":\""
                  + base64(ROOT + "t/members/")
                  + "\",\"range_end\":\""
                  + base64(ROOT + "t/members0")
                  + "\"}");
      Map<String, String> keys = new TreeMap<>();
      if (found.hasPath("kvs")) {
        found
            .getConfigList("kvs")
            .forEach(kv -> keys.put(text(kv.getString("key")), text(kv.getString("value"))));
      }
      return keys;
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void threeMembersFormClusterAndFourthIsRefused_DI2() throws Exception {
    size(3);
    List<Config> configs = new ArrayList<>();
    List<CompletableFuture<RunningNode>> starting = new ArrayList<>();
    Map<String, String> expected = new TreeMap<>();
    for (String name : List.of("one", "two", "three")) {
      Map<String, Object> settings = discovered(name);
      String url = peerUrl(settings);
      // The form in which etcd members register.
      expected.put(ROOT + "t/members/" + MemberIds.initial(List.of(url), "t"), name + "=" + url);
      Config config = TestConfig.of(settings);
      configs.add(config);
      starting.add(run(config));
    }
    for (CompletableFuture<RunningNode> each : starting) {
      started(each);
    }
    for (RunningNode node : members) {
      node.awaitReady();
    }
    assertThat(registered()).isEqualTo(expected);
    assertThat(membersOf(members.get(1))).containsExactlyInAnyOrder("one", "two", "three");

    assertThatThrownBy(() -> run(TestConfig.of(discovered("four"))).join())
        .isInstanceOf(CompletionException.class)
        .hasRootCauseMessage("discovery: cluster is full");
    assertThat(registered()).as("a refused member writes nothing").isEqualTo(expected);

    // F6: its data exists, so the registry is not needed any more.
    registry.close();
    registry = () -> {};
    members.remove(0).close();
    started(run(configs.get(0))).awaitReady();
  }

  private List<String> membersOf(RunningNode node) throws IOException, InterruptedException {
    String before = endpoint;
    endpoint = "http://127.0.0.1:" + node.clientPorts().get(0);
    try {
      return post("/v3/cluster/member/list", "{}").getConfigList("members").stream()
          .map(member -> member.getString("name"))
          .toList();
    } finally {
      endpoint = before;
    }
  }

  @Test
  void noMemberStartsWithoutClusterSize() {
    assertThatThrownBy(() -> run(TestConfig.of(discovered("one"))).join())
        .isInstanceOf(CompletionException.class)
        .hasRootCauseMessage("discovery: size key not found");
  }

  @Test
  void registryThatRequiresLogin() throws Exception {
    size(1);
    post("/v3/auth/user/add", "{\"name\":\"root\",\"password\":\"right\"}");
    post("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
    post("/v3/auth/enable", "{}");

    Map<String, Object> settings = discovered("one");
    settings.put("troupe.discovery.user", "root");
    settings.put("troupe.discovery.password", "wrong");
    assertThatThrownBy(() -> run(TestConfig.of(settings)).join())
        .hasRootCauseInstanceOf(DiscoveryException.class)
        .hasMessageContaining("discovery: the login of \"root\" is refused: " + endpoint)
        .hasMessageContaining("authentication failed, invalid user ID or password");

    settings.put("troupe.discovery.password", "right");
    started(run(TestConfig.of(settings))).awaitReady();
    token =
        post("/v3/auth/authenticate", "{\"name\":\"root\",\"password\":\"right\"}")
            .getString("token");
    assertThat(registered()).hasSize(1);
  }

  @Test
  void membersFromSrvRecordsFormCluster_DN1() throws Exception {
    try (NameServer names = new NameServer()) {
      Map<String, Config> configs = new TreeMap<>();
      List<String> records = new ArrayList<>();
      for (String name : List.of("one", "two")) {
        Map<String, Object> settings = settings(name);
        settings.put("troupe.discovery.srv", "example.org");
        settings.put("troupe.discovery.srv-server", names.address());
        configs.put(name, TestConfig.of(settings));
        records.add(peerUrl(settings).substring("http://".length()));
      }
      names.put("_etcd-server._tcp.example.org", records);
      List<CompletableFuture<RunningNode>> starting =
          configs.values().stream().map(this::run).toList();
      for (CompletableFuture<RunningNode> each : starting) {
        started(each);
      }
      for (RunningNode node : members) {
        node.awaitReady();
      }
      assertThat(membersOf(members.get(0))).containsExactlyInAnyOrder("one", "two");

      // A member without a record, and records that cannot be looked up.
      Map<String, Object> unlisted = settings("three");
      unlisted.put("troupe.discovery.srv", "example.org");
      unlisted.put("troupe.discovery.srv-server", names.address());
      assertThatThrownBy(() -> run(TestConfig.of(unlisted)).join())
          .hasRootCauseInstanceOf(DiscoveryException.class)
          .hasStackTraceContaining("cannot find local etcd member \"three\" in SRV records");
    }
  }

  /** An interrupted start does not continue after its caller has received the interrupt. */
  @Tag("full")
  @Test
  void interruptedDiscoveryWritesNoIdentity() throws Exception {
    size(2);
    Config config = TestConfig.of(discovered("one"));
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    Thread start =
        new Thread(
            () -> {
              try {
                RunningNode.start(config, failure::complete);
              } catch (RuntimeException e) {
                failure.complete(e);
              }
            });
    start.start();
    await().atMost(Duration.ofMinutes(1)).until(() -> registered().size() == 1);
    start.interrupt();
    assertThat(failure.get(60, TimeUnit.SECONDS)).hasMessage("interrupted while starting");
    await()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("open")));
    try (DataDir data = DataDir.open(directory.resolve("one"))) {
      assertThat(data.identity()).isNull();
    }
    // A repeated registration keeps its position.
    CompletableFuture<RunningNode> again = run(config);
    CompletableFuture<RunningNode> other = run(TestConfig.of(discovered("two")));
    started(other);
    started(again).awaitReady();
    assertThat(registered()).hasSize(2);
  }
}
