package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Members that find each other through a third one (8.1). */
@Timeout(120)
class DiscoveredClusterTest {
  @TempDir Path directory = Path.of("");

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpClient http = HttpClient.newHttpClient();
  private String endpoint = "";
  private AutoCloseable registry = () -> {};

  @BeforeEach
  void start() throws Exception {
    RunningNode node = run(config("registry", "")).get(60, TimeUnit.SECONDS);
    registry = node;
    node.awaitReady();
    endpoint = "http://127.0.0.1:" + node.clientPorts().get(0);
  }

  @AfterEach
  void stop() throws Exception {
    registry.close();
    threads.shutdown();
  }

  private Config config(String name, String more) {
    String peer = "[\"http://127.0.0.1:" + FreePort.next() + "\"]";
    return ConfigFactory.parseString(more)
        .withFallback(
            ConfigFactory.parseString(
                "troupe.name = "
                    + name
                    + "\ntroupe.data-dir = \""
                    + directory.resolve(name)
                    + "\"\ntroupe.listen-client-urls = [\"http://127.0.0.1:0\"]"
                    + "\ntroupe.listen-peer-urls = "
                    + peer
                    + "\ntroupe.initial-advertise-peer-urls = "
                    + peer))
        .withFallback(ConfigFactory.parseResources("troupe-defaults.conf"))
        .withFallback(ConfigFactory.defaultReferenceUnresolved())
        .resolve();
  }

  private Config discovered(String name, String token) {
    return config(
        name,
        "troupe.discovery { token = \"" + token + "\", endpoints = [\"" + endpoint + "\"] }");
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

  private String post(String path, String body) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create(endpoint + path))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private void size(String token, int size) throws IOException, InterruptedException {
    post(
        "/v3/kv/put",
        "{\"key\":\""
            + base64("/_etcd/registry/" + token + "/_config/size")
            + "\",\"value\":\""
            + base64(Integer.toString(size))
            + "\"}");
  }

  @Test
  void twoMembersMeet() throws Exception {
    size("t", 2);
    Config one = discovered("one", "t");
    CompletableFuture<RunningNode> first = run(one);
    CompletableFuture<RunningNode> second = run(discovered("two", "t"));
    try (RunningNode two = second.get(60, TimeUnit.SECONDS)) {
      try (RunningNode node = first.get(60, TimeUnit.SECONDS)) {
        node.awaitReady();
        two.awaitReady();
      }
      // Its data is there: the registry is not needed any more.
      registry.close();
      registry = () -> {};
      try (RunningNode again = run(one).get(60, TimeUnit.SECONDS)) {
        again.awaitReady();
      }
    }
  }

  @Test
  void whoComesTooLateDoesNotStart() throws Exception {
    size("t", 1);
    try (RunningNode one = run(discovered("one", "t")).get(60, TimeUnit.SECONDS)) {
      one.awaitReady();
      assertThatThrownBy(() -> run(discovered("two", "t")).join())
          .isInstanceOf(CompletionException.class)
          .hasRootCauseMessage("discovery: cluster is full");
    }
  }

  @Test
  void withoutASizeNobodyStarts() {
    assertThatThrownBy(() -> run(discovered("one", "nowhere")).join())
        .hasRootCauseMessage("discovery: size key not found");
  }
}
