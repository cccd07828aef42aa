package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.FreePort;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestArchive;
import io.troupe.tests.process.TestHeap;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs the commands of docs/disaster.md, section by section. Addresses and directories are
 * replaced, and a script stands for systemctl.
 */
@Clusters
@Tag("full")
@HeapIndependent
class DisasterPageIT {
  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final Pattern PLACES =
      Pattern.compile(
          "10\\.0\\.0\\.([123]):(2379|2380)|IP:10\\.0\\.0\\.1"
              + "|/var/lib/troupe|/etc/troupe|/backup/");

  private final Path root =
      Objects.requireNonNull(NodeProcess.script("ctl").getParent()).resolve("..").normalize();
  private final Path directory;
  private final Map<String, Integer> ports = new HashMap<>();
  private final Map<String, List<String>> sections = new HashMap<>();
  private final Map<String, Integer> next = new HashMap<>();

  DisasterPageIT() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "disaster-").toAbsolutePath();
    String section = "";
    @Nullable StringBuilder block = null;
    for (String line : Files.readAllLines(root.resolve("docs/disaster.md"))) {
      if (line.startsWith("## ")) {
        section = line.substring(3);
      } else if (line.equals("```") && block == null) {
        block = new StringBuilder();
      } else if (line.equals("```") && block != null) {
        sections.computeIfAbsent(section, absent -> new ArrayList<>()).add(block.toString());
        block = null;
      } else if (block != null) {
        block.append(line).append('\n');
      }
    }
  }

  @BeforeEach
  void prepare() throws IOException {
    Files.createDirectories(directory.resolve("bin"));
    Path systemctl = directory.resolve("bin/systemctl");
    // Waits until the member serves, as a unit with Type=notify; start-now does not.
    Files.writeString(
        systemctl,
        """
        #!/usr/bin/env bash
        set -eu
        cd "$MACHINE"
        case "$1" in
          start | start-now)
            touch log
            lines=$(wc -l <log)
            nohup "$ROOT/bin/etcd" --config-file=etc/member.yaml >>log 2>&1 </dev/null &
            echo $! >pid
            [ "$1" = start ] || exit 0
            for i in $(seq 600); do
              if tail -n "+$((lines + 1))" log | grep -q "ready to serve client requests"; then exit 0; fi
              kill -0 "$(cat pid)" || { tail log >&2; exit 1; }
              sleep 0.2
            done
            tail log >&2
            exit 1 ;;
          stop)
            [ -f pid ] || exit 0
            kill "$(cat pid)" 2>/dev/null || true
            while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.1; done ;;
        esac
        """);
    assertThat(systemctl.toFile().setExecutable(true)).isTrue();
    for (String name : NAMES) {
      ports.put(name + 2379, FreePort.next());
      ports.put(name + 2380, FreePort.next());
    }
    for (String name : NAMES) {
      Files.createDirectories(machine(name).resolve("etc"));
      Files.writeString(
          machine(name).resolve("etc/member.yaml"),
          local(
              name,
              """
              name: NAME
              data-dir: /var/lib/troupe
              listen-client-urls: http://ADDRESS:2379
              advertise-client-urls: http://ADDRESS:2379
              listen-peer-urls: http://ADDRESS:2380
              initial-advertise-peer-urls: http://ADDRESS:2380
              initial-cluster: a=http://10.0.0.1:2380,b=http://10.0.0.2:2380,c=http://10.0.0.3:2380
              initial-cluster-state: new
              """
                  .replace("NAME", name)
                  .replace("ADDRESS", "10.0.0." + (NAMES.indexOf(name) + 1))));
    }
  }

  @AfterEach
  void stop() throws IOException {
    for (String name : NAMES) {
      kill(name);
    }
  }

  private Path machine(String name) {
    return directory.resolve(name);
  }

  /** Replaces addresses and directories by those of the test. */
  private String local(String name, String text) {
    return PLACES
        .matcher(text)
        .replaceAll(
            found ->
                switch (found.group()) {
                  case "/var/lib/troupe" -> machine(name).resolve("data").toString();
                  case "/etc/troupe" -> machine(name).resolve("etc").toString();
                  case "/backup/" -> directory + "/";
                  case "IP:10.0.0.1" -> "IP:127.0.0.1";
                  default ->
                      "127.0.0.1:"
                          + ports.get(
                              NAMES.get(Integer.parseInt(found.group(1)) - 1) + found.group(2));
                });
  }

  private NodeProcess.Builder shell(String name, String commands) {
    return NodeProcess.program(
            directory, "bash", "-euo", "pipefail", "-c", "cd '" + root + "'\n" + commands)
        .environment("PATH", directory.resolve("bin") + ":" + System.getenv("PATH"))
        .environment("MACHINE", machine(name).toString())
        .environment("ROOT", root.toString())
        .environment("JAVA_HOME", TestJdks.running().home().toString())
        .environment("TROUPE_HEAP", TestHeap.size())
        .environment("TROUPE_CACHE", TestArchive.directory(TestJdks.running()))
        .named("shell-" + name);
  }

  /** Runs commands on a machine; returns their output. */
  private String run(String name, String commands) {
    try (NodeProcess shell = shell(name, local(name, commands)).start()) {
      assertThat(shell.awaitExit()).as("%s\n%s", commands, shell).isZero();
      return shell.out();
    }
  }

  /** Runs the next block of a section where its first line says; returns the output. */
  private String block(String section) {
    int number = next.merge(section, 1, Integer::sum) - 1;
    String commands = blocks(section).get(number);
    String where = commands.lines().findFirst().orElseThrow();
    List<String> machines =
        switch (where) {
          case "# on a", "# anywhere" -> List.of("a");
          case "# on b" -> List.of("b");
          case "# on c" -> List.of("c");
          case "# on a and b" -> List.of("a", "b");
          case "# on each machine" -> NAMES;
          default -> throw new AssertionError("block without a machine: " + where);
        };
    List<NodeProcess> shells = new ArrayList<>();
    try {
      machines.forEach(name -> shells.add(shell(name, local(name, commands)).start()));
      for (NodeProcess shell : shells) {
        assertThat(shell.awaitExit()).as("%s: %s\n%s", section, commands, shell).isZero();
      }
      return shells.stream().map(NodeProcess::out).collect(Collectors.joining());
    } finally {
      shells.forEach(NodeProcess::close);
    }
  }

  private List<String> blocks(String section) {
    return Objects.requireNonNull(sections.get(section), section);
  }

  private void allBlocksRan(String section) {
    assertThat(next.get(section)).as(section).isEqualTo(blocks(section).size());
  }

  private void startAll() {
    NAMES.forEach(name -> run(name, "systemctl start-now troupe"));
    NAMES.forEach(this::awaitHealthy);
  }

  private void awaitHealthy(String name) {
    Awaitility.await(name)
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(() -> run(name, ctl(name) + "endpoint health"));
  }

  private static String ctl(String name) {
    return "bin/ctl --endpoints=http://10.0.0." + (NAMES.indexOf(name) + 1) + ":2379 ";
  }

  private void kill(String name) throws IOException {
    Path pid = machine(name).resolve("pid");
    if (!Files.exists(pid)) {
      return;
    }
    ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
        .ifPresent(
            process -> {
              process.destroyForcibly();
              process.onExit().join();
            });
    Files.delete(pid);
  }

  private void put(String key) {
    assertThat(run("c", ctl("c") + "put " + key + " value")).isEqualTo("OK\n");
  }

  private void hasKey(String name, String key) {
    assertThat(run(name, ctl(name) + "get --print-value-only " + key)).isEqualTo("value\n");
  }

  private List<String> members() {
    return run("c", ctl("c") + "member list")
        .lines()
        .map(line -> line.split(", ", -1)[2] + (line.endsWith("true") ? " learner" : ""))
        .sorted()
        .toList();
  }

  @Test
  void quorumLost() throws IOException {
    startAll();
    put("k");
    kill("a");
    kill("b");
    assertThat(block("")).contains("FAIL");
    block("Quorum lost");
    assertThat(block("Quorum lost")).contains("is healthy").contains("IS LEADER");
    hasKey("a", "k");
    allBlocksRan("Quorum lost");
  }

  @Test
  void oneSurvivor() throws IOException {
    startAll();
    put("k");
    kill("a");
    kill("b");
    assertThat(block("One survivor")).contains("127.0.0.1");
    hasKey("c", "k");
    assertThat(members()).containsExactly("c");
    assertThat(Files.readString(machine("c").resolve("etc/member.yaml"))).doesNotContain("force");
    block("One survivor");
    block("One survivor");
    block("One survivor");
    assertThat(members()).containsExactly("a", "c");
    hasKey("a", "k");
    allBlocksRan("One survivor");
  }

  @Test
  void allDataGone() throws IOException {
    startAll();
    put("k");
    run("c", ctl("c") + "snapshot save /backup/newest.db");
    put("later");
    for (String name : NAMES) {
      kill(name);
    }
    block("All data gone");
    String[] hashes =
        block("All data gone")
            .lines()
            .filter(line -> line.contains("127.0.0.1"))
            .toArray(String[]::new);
    assertThat(hashes).hasSize(3);
    assertThat(Stream.of(hashes).map(line -> line.split("[|│]", -1)[2]).distinct()).hasSize(1);
    NAMES.forEach(name -> hasKey(name, "k"));
    assertThat(run("a", ctl("a") + "get later")).isEmpty();
    put("after");
    allBlocksRan("All data gone");
  }

  /** A table file; without one the list of the files. */
  private static Path stateFile(Path state) throws IOException {
    try (Stream<Path> files = Files.list(state)) {
      List<Path> all = files.sorted().toList();
      return Stream.of(".sst", "MANIFEST-")
          .flatMap(part -> all.stream().filter(file -> file.toString().contains(part)))
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void damagedMember() throws IOException {
    startAll();
    put("k");
    run("b", "systemctl stop troupe");
    Files.write(stateFile(machine("b").resolve("data/state")), new byte[100]);
    try (NodeProcess refused = shell("b", "systemctl start troupe").start()) {
      assertThat(refused.awaitExit()).as("%s", refused).isNotZero();
    }
    block("A damaged member");
    block("A damaged member");
    hasKey("b", "k");
    run("b", "systemctl stop troupe");
    for (int i = 0; i < 3; i++) {
      block("A damaged member");
    }
    assertThat(members()).containsExactly("a", "b", "c");
    hasKey("b", "k");
    allBlocksRan("A damaged member");
  }

  @Test
  void fullDisk() {
    startAll();
    put("k");
    put("cache/1");
    assertThat(block("A full disk")).contains("1\n").contains("compacted revision");
    assertThat(run("a", ctl("a") + "get --prefix cache/")).isEmpty();
    hasKey("a", "k");
    allBlocksRan("A full disk");
  }

  @Test
  void expiredCertificate() throws IOException {
    run(
        "a",
        """
        cd /etc/troupe
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca-key.pem -out ca.pem -subj /CN=ca -days 30
        openssl req -newkey rsa:2048 -nodes -keyout server-key.pem -out server.csr -subj /CN=a
        printf 'subjectAltName = IP:10.0.0.1, DNS:localhost\\n' > server.ext
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca-key.pem -days -1 -extfile server.ext -out server.pem
        sed -i '/^initial-cluster/d; s|client-urls: http:|client-urls: https:|' member.yaml
        echo 'initial-cluster: a=http://10.0.0.1:2380' >> member.yaml
        echo 'client-transport-security:' >> member.yaml
        echo '  cert-file: /etc/troupe/server.pem' >> member.yaml
        echo '  key-file: /etc/troupe/server-key.pem' >> member.yaml
        systemctl start troupe
        """);
    String health =
        "bin/ctl --endpoints=https://10.0.0.1:2379 --cacert=/etc/troupe/ca.pem endpoint health";
    try (NodeProcess refused = shell("a", local("a", health)).start()) {
      assertThat(refused.awaitExit()).isNotZero();
    }
    assertThat(block("Expired certificates")).contains("notAfter=");
    assertThat(run("a", health)).isNotNull();
    allBlocksRan("Expired certificates");
  }
}
