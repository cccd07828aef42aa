package io.troupe.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** etcdctl with users and roles against a member with authentication enabled. */
@HeapIndependent
class EtcdctlAuthIT {
  private static Path directory = Path.of("");
  private static @Nullable NodeProcess node;

  @BeforeAll
  static void start() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "auth-");
    node = NodeProcess.member(TestJdks.running(), directory).start().awaitReady();
  }

  @AfterAll
  static void stop() {
    if (node != null) {
      node.close();
    }
  }

  private static NodeProcess etcdctl(String user, String... args) {
    List<String> command = new ArrayList<>();
    command.add("etcdctl");
    command.add("--endpoints=" + Objects.requireNonNull(node).endpoint());
    if (!user.isEmpty()) {
      command.add("--user=" + user);
    }
    command.addAll(List.of(args));
    return NodeProcess.program(directory, command.toArray(String[]::new))
        .environment("ETCDCTL_API", "3")
        .named("etcdctl")
        .start();
  }

  private static String run(String user, String... args) {
    try (NodeProcess etcdctl = etcdctl(user, args)) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isZero();
      return etcdctl.out();
    }
  }

  private static String failed(String user, String... args) {
    try (NodeProcess etcdctl = etcdctl(user, args)) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isNotZero();
      return etcdctl.err();
    }
  }

  @Test
  void usersRolesAndPermissions() {
    assertThat(run("", "user", "add", "root:pw")).isEqualTo("User root created\n");
    assertThat(run("", "auth", "enable")).isEqualTo("Authentication Enabled\n");
    String root = "root:pw";
    assertThat(failed("", "put", "a", "1")).contains("etcdserver: user name is empty");
    assertThat(failed("root:no", "put", "a", "1"))
        .contains("authentication failed, invalid user ID or password");
    assertThat(run(root, "put", "a", "1")).isEqualTo("OK\n");

    assertThat(run(root, "user", "add", "alice:secret")).isEqualTo("User alice created\n");
    assertThat(run(root, "role", "add", "reader")).isEqualTo("Role reader created\n");
    assertThat(run(root, "role", "grant-permission", "reader", "read", "a", "c"))
        .isEqualTo("Role reader updated\n");
    assertThat(run(root, "role", "grant-permission", "--prefix", "reader", "readwrite", "mine/"))
        .isEqualTo("Role reader updated\n");
    assertThat(run(root, "user", "grant-role", "alice", "reader"))
        .isEqualTo("Role reader is granted to user alice\n");
    String alice = "alice:secret";
    assertThat(run(alice, "get", "a")).isEqualTo("a\n1\n");
    assertThat(run(alice, "get", "a", "c", "--print-value-only")).isEqualTo("1\n");
    assertThat(run(alice, "put", "mine/x", "2")).isEqualTo("OK\n");
    assertThat(failed(alice, "put", "a", "2")).contains("etcdserver: permission denied");
    assertThat(failed(alice, "get", "", "--prefix")).contains("etcdserver: permission denied");
    assertThat(failed(alice, "user", "list")).contains("etcdserver: permission denied");
    assertThat(run(root, "user", "list")).isEqualTo("alice\nroot\n");
    assertThat(run(root, "role", "get", "reader"))
        .contains("KV Read:\n\t[a, c)", "\t[mine/, mine0) (prefix mine/)");
    assertThat(run(root, "lease", "grant", "60")).contains("granted with TTL(60s)");
    assertThat(run(root, "endpoint", "status")).contains(", ");

    assertThat(run(root, "role", "revoke-permission", "reader", "a", "c"))
        .startsWith("Permission of range [a, c) is revoked from role reader");
    assertThat(failed(alice, "get", "a")).contains("etcdserver: permission denied");
    assertThat(run(root, "user", "revoke-role", "alice", "reader"))
        .isEqualTo("Role reader is revoked from user alice\n");
    assertThat(failed(alice, "get", "mine/x")).contains("etcdserver: permission denied");
    assertThat(run(root, "user", "delete", "alice")).isEqualTo("User alice deleted\n");
    assertThat(run(root, "auth", "disable")).isEqualTo("Authentication Disabled\n");
    assertThat(run("", "get", "mine/x")).isEqualTo("mine/x\n2\n");
  }
}
