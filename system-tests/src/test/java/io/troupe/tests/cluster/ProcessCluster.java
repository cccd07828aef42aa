package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;

/**
 * Members as separate processes, operated with etcdctl. A member has a name, a client port and a
 * peer port from its first use.
 */
final class ProcessCluster implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(90);
  static final String TOKEN = "process-cluster";

  private static final class Slot {
    final NodeProcess.Builder made;
    final String peerUrl;
    final Path data;
    @Nullable NodeProcess process;

    Slot(NodeProcess.Builder made, String peerUrl, Path data) {
      this.made = made;
      this.peerUrl = peerUrl;
      this.data = data;
    }
  }

  private final Path directory;
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final Map<String, Slot> slots = new LinkedHashMap<>();

  ProcessCluster(Path directory) {
    this.directory = directory;
  }

  /** Sets a setting of all members that are named later. */
  void setting(String key, String value) {
    settings.put(key, value);
  }

  static ConditionFactory await(String what) {
    return Awaitility.await(what).atMost(TIMEOUT).pollInterval(Duration.ofMillis(50));
  }

  private Slot slot(String name) {
    return slots.computeIfAbsent(name, this::prepare);
  }

  private Slot prepare(String name) {
    String url = "http://127.0.0.1:" + FreePort.next();
    Path own = directory.resolve(name);
    NodeProcess.Builder made =
        NodeProcess.member(TestJdks.running(), own, "-XX:TieredStopAtLevel=1", "-Xshare:auto")
            .named(name)
            .settings(settings)
            .setting("name", name)
            .setting("wal-segment-size", "4MiB")
            .setting("store.block-cache-bytes", "8MiB")
            .setting("store.write-buffer-bytes", "4MiB")
            .setting("initial-cluster-token", TOKEN)
            .setting("listen-peer-urls", url)
            .setting("initial-advertise-peer-urls", url);
    return new Slot(made, url, own.resolve("data"));
  }

  String peerUrl(String name) {
    return slot(name).peerUrl;
  }

  Path data(String name) {
    return slot(name).data;
  }

  NodeProcess process(String name) {
    NodeProcess process = slot(name).process;
    if (process == null) {
      throw new IllegalStateException("never started: " + name);
    }
    return process;
  }

  /** The value of initial-cluster with these members. */
  String cluster(String... names) {
    return Arrays.stream(names)
        .map(name -> name + "=" + peerUrl(name))
        .collect(Collectors.joining(","));
  }

  /** Starts the first members of a new cluster and waits until they serve. */
  ProcessCluster startNew(String... names) {
    for (String name : names) {
      start(name, "new", cluster(names));
    }
    for (String name : names) {
      process(name).awaitReady();
    }
    return this;
  }

  /** Starts a member that joins; does not wait. */
  NodeProcess join(String name, String initialCluster) {
    return start(name, "existing", initialCluster);
  }

  /** Starts a member with its bootstrap settings; does not wait. */
  NodeProcess start(String name, String state, String initialCluster, String... more) {
    Slot slot = slot(name);
    slot.made.setting("initial-cluster-state", state).setting("initial-cluster", initialCluster);
    slot.made.args(more);
    NodeProcess started = slot.made.start();
    slot.process = started;
    return started;
  }

  /** Restarts a member with its data; does not wait. */
  NodeProcess restart(String name) {
    NodeProcess started = process(name).restart();
    slot(name).process = started;
    return started;
  }

  /** Members with a running process. */
  List<String> running() {
    List<String> running = new ArrayList<>();
    slots.forEach(
        (name, slot) -> {
          if (slot.process != null && slot.process.isAlive()) {
            running.add(name);
          }
        });
    return running;
  }

  String endpoint(String name) {
    return process(name).endpoint();
  }

  /** etcdctl with the endpoint of one member. */
  NodeProcess etcdctl(String via, String... args) {
    return etcdctl(List.of(via), args);
  }

  /** etcdctl with several endpoints. */
  NodeProcess etcdctl(List<String> via, String... args) {
    List<String> command = new ArrayList<>(List.of("etcdctl"));
    command.add("--endpoints=" + via.stream().map(this::endpoint).collect(Collectors.joining(",")));
    command.add("--dial-timeout=5s");
    command.add("--command-timeout=10s");
    command.addAll(List.of(args));
    return NodeProcess.program(directory, command.toArray(String[]::new))
        .environment("ETCDCTL_API", "3")
        .named("etcdctl")
        .start();
  }

  /** Runs a command that must succeed and returns its standard output. */
  String run(String via, String... args) {
    try (NodeProcess command = etcdctl(via, args)) {
      assertThat(command.awaitExit()).as("%s", command).isZero();
      return command.out();
    }
  }

  /** Runs a command that must fail and returns its output. */
  String failed(String via, String... args) {
    try (NodeProcess command = etcdctl(via, args)) {
      assertThat(command.awaitExit()).as("%s", command).isNotZero();
      return command.err();
    }
  }

  /** Repeats a command until it succeeds: a new leader refuses changes for some seconds (M5). */
  String runInTheEnd(String via, String... args) {
    String[] out = new String[1];
    await(String.join(" ", args))
        .untilAsserted(
            () -> {
              try (NodeProcess command = etcdctl(via, args)) {
                assertThat(command.awaitExit()).as("%s", command).isZero();
                out[0] = command.out();
              }
            });
    return out[0];
  }

  /** The name of the leader that one member reports; empty if it reports none. */
  String leader(String via) {
    try (NodeProcess command = etcdctl(via, "endpoint", "status", "-w", "json")) {
      if (command.awaitExit() != 0) {
        return "";
      }
      long leader = json(command.out()).get(0).get("Status").path("leader").asLong();
      return member(via, leader).map(member -> member.path("name").asText("")).orElse("");
    }
  }

  private Optional<JsonNode> member(String via, long id) {
    return members(via).stream().filter(member -> member.get("ID").asLong() == id).findFirst();
  }

  /** The name of the leader once all running members report the same one. */
  String awaitLeader() {
    String[] found = new String[1];
    await("one leader")
        .until(
            () -> {
              List<String> known = running().stream().map(this::leader).distinct().toList();
              found[0] = known.get(0);
              return known.size() == 1 && running().contains(found[0]);
            });
    return found[0];
  }

  /** A running member that is not the leader. */
  String awaitFollower() {
    String leader = awaitLeader();
    return running().stream().filter(name -> !name.equals(leader)).findFirst().orElseThrow();
  }

  /** The members as one member reports them. */
  List<JsonNode> members(String via) {
    List<JsonNode> members = new ArrayList<>();
    json(run(via, "member", "list", "-w", "json")).get("members").forEach(members::add);
    return members;
  }

  /** Member ID in the form that etcdctl expects. */
  String id(String via, String peerUrl) {
    return members(via).stream()
        .filter(member -> member.get("peerURLs").get(0).asText().equals(peerUrl))
        .map(member -> Long.toHexString(new BigInteger(member.get("ID").asText()).longValue()))
        .findFirst()
        .orElseThrow();
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the local state of a member holds a key (serializable read). */
  void awaitKey(String member, String key, String value) {
    await(key + " on " + member)
        .until(
            () -> {
              try (NodeProcess get =
                  etcdctl(member, "get", key, "--consistency=s", "--print-value-only")) {
                return get.awaitExit() == 0 && get.out().equals(value + "\n");
              }
            });
  }

  @Override
  public void close() {
    for (Slot slot : slots.values()) {
      if (slot.process != null) {
        slot.process.close();
      }
    }
  }
}
