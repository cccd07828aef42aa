package io.troupe.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** etcdctl (package etcd-client of Debian) against a member on every JDK. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.troupe.tests.process.TestJdks#all")
@HeapIndependent
class EtcdctlIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static Path directory = Path.of("");

  private static @Nullable NodeProcess node;

  private final Jdk jdk;
  private String prefix = "";

  EtcdctlIT(Jdk jdk) {
    this.jdk = jdk;
  }

  @BeforeParameterizedClassInvocation
  static void start(Jdk jdk) throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "clients-");
    node = NodeProcess.member(jdk, directory.resolve(jdk.toString())).start().awaitReady();
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    if (node != null) {
      node.close();
    }
  }

  @BeforeEach
  void ownKeys(TestInfo test) {
    prefix = test.getTestMethod().orElseThrow().getName() + "/";
  }

  private NodeProcess.Builder command(String... args) {
    NodeProcess member = java.util.Objects.requireNonNull(node);
    List<String> command = new ArrayList<>();
    command.add("etcdctl");
    command.add("--endpoints=" + member.endpoint());
    command.addAll(List.of(args));
    return NodeProcess.program(directory.resolve(jdk.toString()), command.toArray(String[]::new))
        .environment("ETCDCTL_API", "3")
        .named("etcdctl");
  }

  /** Runs a command that must succeed and returns its standard output. */
  private String run(String... args) {
    return finish(command(args));
  }

  private static String finish(NodeProcess.Builder command) {
    try (NodeProcess etcdctl = command.start()) {
      int exit = etcdctl.awaitExit();
      assertThat(exit).as("%s", etcdctl).isZero();
      return etcdctl.out();
    }
  }

  /** Runs a command that must fail and returns its standard error. */
  private String failed(String... args) {
    try (NodeProcess etcdctl = command(args).start()) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isNotZero();
      return etcdctl.err();
    }
  }

  private JsonNode json(String... args) throws IOException {
    List<String> all = new ArrayList<>(List.of(args));
    all.add("--write-out=json");
    return JSON.readTree(run(all.toArray(String[]::new)));
  }

  private long revision() throws IOException {
    return json("get", prefix).get("header").get("revision").asLong();
  }

  private static String text(JsonNode base64) {
    return new String(Base64.getDecoder().decode(base64.asText()), StandardCharsets.UTF_8);
  }

  @Test
  void putGetAndDelete() {
    assertThat(run("put", prefix + "a", "1")).isEqualTo("OK\n");
    assertThat(run("get", prefix + "a")).isEqualTo(prefix + "a\n1\n");
    assertThat(run("get", prefix + "a", "--print-value-only")).isEqualTo("1\n");
    assertThat(run("put", prefix + "a", "2", "--prev-kv")).isEqualTo("OK\n" + prefix + "a\n1\n");
    assertThat(run("put", prefix + "a", "--ignore-value")).isEqualTo("OK\n");
    assertThat(run("del", prefix + "a", "--prev-kv")).isEqualTo("1\n" + prefix + "a\n2\n");
    assertThat(run("del", prefix + "a")).isEqualTo("0\n");
    assertThat(run("get", prefix + "a")).isEmpty();
  }

  @Test
  void rangesPrefixesLimitsAndOrders() {
    for (String key : List.of("c", "a", "d", "b")) {
      run("put", prefix + key, key);
    }
    assertThat(values("--prefix")).isEqualTo("a b c d");
    assertThat(values("--prefix", "--limit=2")).isEqualTo("a b");
    assertThat(values("--prefix", "--order=DESCEND")).isEqualTo("d c b a");
    assertThat(values("--prefix", "--sort-by=CREATE")).isEqualTo("c a d b");
    assertThat(values("--prefix", "--sort-by=MODIFY", "--order=DESCEND")).isEqualTo("b d a c");
    assertThat(values("--prefix", "--consistency=s")).isEqualTo("a b c d");
    assertThat(run("get", prefix + "b", prefix + "d", "--keys-only").lines().toList())
        .containsExactly(prefix + "b", "", prefix + "c", "");
    assertThat(run("get", prefix + "c", "--from-key", "--limit=2", "--print-value-only"))
        .isEqualTo("c\nd\n");
    assertThat(run("del", prefix, "--prefix")).isEqualTo("4\n");
  }

  private String values(String... flags) {
    List<String> command = new ArrayList<>(List.of("get", prefix, "--print-value-only"));
    command.addAll(List.of(flags));
    return String.join(" ", run(command.toArray(String[]::new)).lines().toList());
  }

  @Test
  void revisionsAndJson() throws IOException {
    run("put", prefix + "a", "1");
    JsonNode first = json("get", prefix + "a");
    run("put", prefix + "a", "2");
    JsonNode record = first.get("kvs").get(0);
    assertThat(text(record.get("key"))).isEqualTo(prefix + "a");
    assertThat(text(record.get("value"))).isEqualTo("1");
    assertThat(record.get("version").asLong()).isEqualTo(1);
    assertThat(first.get("count").asLong()).isEqualTo(1);
    assertThat(first.get("header").get("cluster_id").asText()).isNotEqualTo("0");
    long revision = record.get("mod_revision").asLong();
    assertThat(run("get", prefix + "a", "--rev=" + revision, "--print-value-only"))
        .isEqualTo("1\n");
    assertThat(failed("get", prefix + "a", "--rev=" + (revision + 1000)))
        .contains("etcdserver: mvcc: required revision is a future revision");
  }

  @Test
  void transactions() {
    run("put", prefix + "a", "1");
    String txn =
        """
        value("%1$sa") = "1"
        version("%1$sb") = "0"

        put %1$sb made
        get %1$sa

        put %1$sc else

        """
            .formatted(prefix);
    assertThat(finish(command("txn").input(txn)))
        .isEqualTo("SUCCESS\n\nOK\n\n" + prefix + "a\n1\n");
    assertThat(finish(command("txn").input(txn))).isEqualTo("FAILURE\n\nOK\n");
    assertThat(run("get", prefix + "c", "--print-value-only")).isEqualTo("else\n");
  }

  @Test
  void watchInBackground() throws IOException {
    run("put", prefix + "a", "0");
    long start = revision();
    try (NodeProcess watch =
        command("watch", prefix, "--prefix", "--prev-kv", "--rev=" + start).start()) {
      run("put", prefix + "a", "1");
      run("put", prefix + "b", "2");
      run("del", prefix + "a");
      String a = prefix + "a";
      String b = prefix + "b";
      String expected =
          String.join(
              "\n", "PUT", "", "", a, "0", "PUT", a, "0", a, "1", "PUT", "", "", b, "2", "DELETE",
              a, "1", a, "", "");
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(() -> assertThat(normalised(watch.out())).isEqualTo(normalised(expected)));
    }
  }

  /** The empty lines of an absent previous record differ between versions of etcdctl. */
  private static List<String> normalised(String lines) {
    return lines.lines().filter(line -> !line.isEmpty()).toList();
  }

  @Test
  void leases() {
    String granted = run("lease", "grant", "300");
    assertThat(granted).matches("lease [0-9a-f]+ granted with TTL\\(300s\\)\n");
    String lease = granted.split(" ", -1)[1];
    run("put", prefix + "a", "1", "--lease=" + lease);
    assertThat(run("lease", "timetolive", lease, "--keys"))
        .matches(
            "lease "
                + lease
                + " granted with TTL\\(300s\\), remaining\\(\\d+s\\), attached keys\\(\\["
                + prefix
                + "a\\]\\)\n");
    assertThat(run("lease", "list")).contains(lease);
    assertThat(run("lease", "keep-alive", "--once", lease))
        .isEqualTo("lease " + lease + " keepalived with TTL(300)\n");
    assertThat(run("lease", "revoke", lease)).isEqualTo("lease " + lease + " revoked\n");
    assertThat(run("get", prefix + "a")).isEmpty();
    assertThat(run("lease", "timetolive", lease)).contains("already expired");
    assertThat(failed("lease", "revoke", lease)).contains("etcdserver: requested lease not found");
  }

  @Tag("full")
  @Test
  void keepAliveHoldsLease() {
    String lease = run("lease", "grant", "2").split(" ", -1)[1];
    run("put", prefix + "a", "1", "--lease=" + lease);
    try (NodeProcess keepAlive = command("lease", "keep-alive", lease).start()) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> keepAlive.out().lines().count() >= 5);
      assertThat(run("get", prefix + "a", "--print-value-only")).isEqualTo("1\n");
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> run("get", prefix + "a").isEmpty());
  }

  private static void awaitOut(NodeProcess etcdctl, String part) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(etcdctl.out()).as("%s", etcdctl).contains(part));
  }

  /**
   * etcdctl writes the keys of its locks and elections itself, in the form of sections 2.17 and
   * 2.18.
   */
  @Test
  void lockRunsCommandWhenItIsFree() {
    try (NodeProcess owner = command("lock", prefix + "a").named("owner").start()) {
      awaitOut(owner, prefix + "a/");
      try (NodeProcess waiting =
          command("lock", prefix + "a", "echo", "mine").named("waiting").start()) {
        Awaitility.await()
            .until(
                () ->
                    run("get", prefix + "a/", "--prefix", "--keys-only").split("\n\n").length == 2);
        assertThat(waiting.isAlive()).isTrue();
        owner.terminate();
        assertThat(waiting.awaitExit()).isZero();
        assertThat(waiting.out()).contains("mine");
      }
    }
    assertThat(run("get", prefix + "a/", "--prefix")).isEmpty();
  }

  @Test
  void electTransfersLeadership() {
    try (NodeProcess first = command("elect", prefix + "a", "one").named("first").start()) {
      awaitOut(first, "one");
      try (NodeProcess observer = command("elect", "-l", prefix + "a").named("observer").start();
          NodeProcess second = command("elect", prefix + "a", "two").named("second").start()) {
        awaitOut(observer, "one");
        Awaitility.await()
            .until(
                () ->
                    run("get", prefix + "a/", "--prefix", "--keys-only").split("\n\n").length == 2);
        assertThat(second.out()).isEmpty();
        first.terminate();
        awaitOut(second, "two");
        awaitOut(observer, "two");
      }
    }
  }

  @Test
  void compaction() throws IOException {
    run("put", prefix + "a", "1");
    run("put", prefix + "a", "2");
    long revision = revision();
    assertThat(run("compaction", "" + revision, "--physical"))
        .isEqualTo("compacted revision " + revision + "\n");
    assertThat(failed("get", prefix + "a", "--rev=" + (revision - 1)))
        .contains("etcdserver: mvcc: required revision has been compacted");
    assertThat(failed("compaction", "" + revision))
        .contains("etcdserver: mvcc: required revision has been compacted");
    assertThat(failed("watch", prefix + "a", "--rev=" + (revision - 1)))
        .contains("required revision has been compacted");
  }

  @Test
  void statusHealthAndMembers() throws IOException {
    JsonNode status = json("endpoint", "status").get(0).get("Status");
    assertThat(status.get("version").asText()).isEqualTo("3.7.1");
    assertThat(status.get("leader").asText())
        .isEqualTo(status.get("header").get("member_id").asText());
    assertThat(run("endpoint", "status", "--write-out=table"))
        .contains(" 3.7.1 |", "ENDPOINT", "IS LEADER");
    try (NodeProcess health = command("endpoint", "health").start()) {
      assertThat(health.awaitExit()).isZero();
      assertThat(health.out() + health.err()).contains("is healthy");
    }
    assertThat(run("member", "list", "--write-out=table")).contains("started", "default");
    assertThat(json("member", "list").get("members")).hasSize(1);
    assertThat(json("endpoint", "hashkv").get(0).get("HashKV").get("hash").asLong()).isPositive();
    assertThat(run("alarm", "list")).isEmpty();
    assertThat(run("defrag")).contains("Finished defragmenting");
  }
}
