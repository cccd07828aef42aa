package io.troupe.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.tls.TestAuthority;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** etcdctl against a member that starts with the TLS flags of etcd. */
@HeapIndependent
class EtcdctlTlsIT {
  private final Path directory;
  private final TestAuthority authority;
  private final String url = "https://127.0.0.1:" + FreePort.next();

  EtcdctlTlsIT() throws Exception {
    directory = Files.createTempDirectory(Path.of("target"), "tls-").toAbsolutePath();
    authority = new TestAuthority(directory, "authority");
  }

  private NodeProcess member(String... flags) {
    return NodeProcess.jar(TestJdks.running(), directory, List.of())
        .args("etcd", "--data-dir=" + directory.resolve("data"))
        .args("--listen-client-urls=" + url, "--advertise-client-urls=" + url)
        .args(flags)
        .start()
        .awaitReady();
  }

  private NodeProcess etcdctl(int dialSeconds, Path ca, @Nullable Issued shown, String... args) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("etcdctl", "--endpoints=" + url, "--cacert=" + ca));
    command.add("--dial-timeout=" + dialSeconds + "s");
    if (shown != null) {
      command.addAll(List.of("--cert=" + shown.cert(), "--key=" + shown.key()));
    }
    command.addAll(List.of(args));
    return NodeProcess.program(directory, command.toArray(String[]::new))
        .environment("ETCDCTL_API", "3")
        .named("etcdctl")
        .start();
  }

  private String run(@Nullable Issued shown, String... args) {
    return ran(authority.file(), shown, args);
  }

  private String ran(Path ca, @Nullable Issued shown, String... args) {
    try (NodeProcess etcdctl = etcdctl(20, ca, shown, args)) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isZero();
      return etcdctl.out();
    }
  }

  private String failed(@Nullable Issued shown, String... args) {
    try (NodeProcess etcdctl = etcdctl(20, authority.file(), shown, args)) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isNotZero();
      return etcdctl.err();
    }
  }

  /** etcdctl retries a refused connection until its timeout. */
  private void notConnected(Path ca, @Nullable Issued shown) {
    try (NodeProcess etcdctl = etcdctl(2, ca, shown, "get", "a")) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isNotZero();
    }
  }

  @Tag("full")
  @Test
  void clientCertificatesAuthenticateUsers_A14() throws Exception {
    Issued server = authority.issue("server", "server", KeyForm.EC_SEC1, "127.0.0.1");
    Issued root = authority.issue("root", "root", KeyForm.RSA_PKCS1);
    Issued alice = authority.issue("alice", "alice", KeyForm.EC_PKCS8);
    Issued bad = authority.issue("bad", "root", KeyForm.EC_PKCS8);
    Path other = Files.createDirectory(directory.resolve("other"));
    TestAuthority unknown = new TestAuthority(other, "unknown");
    Issued foreign = unknown.issue("root", "root", KeyForm.EC_PKCS8);
    try (NodeProcess member =
        member(
            "--cert-file=" + server.cert(),
            "--key-file=" + server.key(),
            "--trusted-ca-file=" + authority.file(),
            "--client-crl-file=" + authority.revoke("void.crl", bad.certificate()),
            "--client-cert-auth")) {
      assertThat(member.awaitLine("serving client traffic securely"))
          .contains("\"traffic\":\"grpc+http\"", "\"address\":");
      assertThat(run(root, "put", "a", "1")).isEqualTo("OK\n");
      for (Issued refused : Arrays.asList(null, foreign, bad)) {
        notConnected(authority.file(), refused);
      }
      notConnected(unknown.file(), root);
      assertThat(member.awaitLine("rejected connection on client endpoint")).contains("\"error\":");

      run(root, "user", "add", "root", "--no-password");
      run(root, "user", "grant-role", "root", "root");
      run(root, "user", "add", "alice", "--no-password");
      run(root, "role", "add", "reader");
      run(root, "role", "grant-permission", "reader", "read", "a");
      run(root, "user", "grant-role", "alice", "reader");
      assertThat(run(root, "auth", "enable")).isEqualTo("Authentication Enabled\n");
      assertThat(run(alice, "get", "a")).isEqualTo("a\n1\n");
      assertThat(failed(alice, "put", "a", "2")).contains("etcdserver: permission denied");
      assertThat(run(root, "put", "a", "2")).isEqualTo("OK\n");
      assertThat(run(root, "endpoint", "status")).contains(url + ", ");
      assertThat(run(root, "auth", "disable")).isEqualTo("Authentication Disabled\n");
    }
  }

  @Test
  void autoTls_TL5() throws Exception {
    Path own = directory.resolve("data/fixtures/client/cert.pem");
    try (NodeProcess member = member("--auto-tls", "--self-signed-cert-validity=2")) {
      member.awaitLine("serving client traffic securely");
      assertThat(ran(own, null, "put", "a", "1")).isEqualTo("OK\n");
      notConnected(authority.file(), null);
    }
  }

  /** Each start would pay for loading these classes. */
  @Test
  void plaintextMemberLoadsNoTlsClasses() throws Exception {
    Path loaded = directory.resolve("classes.txt");
    try (NodeProcess member =
        NodeProcess.member(TestJdks.running(), directory, "-Xlog:class+load:file=" + loaded)
            .start()
            .awaitReady()) {
      assertThat(member.awaitLine("serving client traffic insecurely"))
          .contains("traffic=grpc+http");
    }
    assertThat(Files.readAllLines(loaded))
        .anyMatch(line -> line.contains("io.troupe.node.RunningNode "))
        .noneMatch(line -> line.contains("org.bouncycastle."))
        .noneMatch(line -> line.contains("io.troupe.node.tls.TlsEngines "))
        .noneMatch(line -> line.contains("io.troupe.edge.connection.SecureListener "));
  }
}
