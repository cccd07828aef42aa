package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.node.tls.TestAuthority;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import io.troupe.testing.FreePort;
import io.troupe.testing.LoggedLines;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS between three members in this process (section 8.5). */
class SecurePeersTest {
  private static final String BLOCK = "troupe.peer-transport-security.";

  private final Path directory;
  private final TestAuthority authority;
  private final Path trusted;
  private final int[] peers = {FreePort.next(), FreePort.next(), FreePort.next()};
  private final int[] clients = {FreePort.next(), FreePort.next(), FreePort.next()};
  private final @Nullable RunningNode[] nodes = new RunningNode[3];
  private final ExecutorService starting = Executors.newFixedThreadPool(3);
  private final LoggedLines log = new LoggedLines();

  SecurePeersTest(@TempDir Path directory) throws Exception {
    this.directory = directory;
    this.authority = new TestAuthority(directory, "authority");
    this.trusted = directory.resolve("trusted.pem");
    Files.copy(authority.file(), trusted);
  }

  @AfterEach
  void close() {
    log.close();
    for (int i = 0; i < 3; i++) {
      stop(i);
    }
    starting.shutdown();
  }

  private void stop(int number) {
    RunningNode node = nodes[number];
    nodes[number] = null;
    if (node != null) {
      node.close();
    }
  }

  private Issued certificate(TestAuthority by, int number) throws Exception {
    return by.issue("n" + number, "member", KeyForm.EC_SEC1, "127.0.0.1");
  }

  private Map<String, Object> secured(Issued own, Path trustedCa) {
    Map<String, Object> tls = new HashMap<>();
    tls.put(BLOCK + "cert-file", own.cert().toString());
    tls.put(BLOCK + "key-file", own.key().toString());
    tls.put(BLOCK + "trusted-ca-file", trustedCa.toString());
    tls.put(BLOCK + "client-cert-auth", true);
    return tls;
  }

  private String url(int number) {
    return "https://127.0.0.1:" + peers[number];
  }

  private void start(int number, Map<String, Object> tls) {
    Map<String, Object> settings = new HashMap<>(tls);
    settings.put("troupe.name", "n" + number);
    settings.put("troupe.data-dir", directory.resolve("data" + number).toString());
    settings.put("troupe.listen-client-urls", "http://127.0.0.1:" + clients[number]);
    settings.put("troupe.listen-peer-urls", url(number));
    settings.put("troupe.initial-advertise-peer-urls", url(number));
    settings.put(
        "troupe.initial-cluster",
        IntStream.range(0, 3)
            .mapToObj(i -> "n" + i + "=" + url(i))
            .collect(Collectors.joining(",")));
    Config config = TestConfig.of(settings);
    nodes[number] = RunningNode.start(config, failure -> {});
  }

  private void startAll(List<Map<String, Object>> tls) throws Exception {
    List<CompletableFuture<Void>> all =
        IntStream.range(0, 3)
            .mapToObj(i -> CompletableFuture.runAsync(() -> start(i, tls.get(i)), starting))
            .toList();
    for (CompletableFuture<Void> one : all) {
      one.get(60, TimeUnit.SECONDS);
    }
    for (RunningNode node : nodes) {
      if (node != null) {
        node.awaitReady();
      }
    }
  }

  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private void put(int through, String key) {
    ServedStore.await()
        .untilAsserted(
            () ->
                assertThat(
                        new Http1("127.0.0.1:" + clients[through])
                            .post(
                                "/v3/kv/put",
                                "{\"key\":\"" + encoded(key) + "\",\"value\":\"dg==\"}")
                            .statusCode())
                    .isEqualTo(200));
  }

  private void awaitKey(int on, String key) {
    ServedStore.await()
        .untilAsserted(
            () ->
                assertThat(
                        new Http1("127.0.0.1:" + clients[on])
                            .post(
                                "/v3/kv/range",
                                "{\"key\":\"" + encoded(key) + "\",\"serializable\":true}")
                            .body())
                    .contains("\"count\":\"1\""));
  }

  private static void replace(Path with, Path file) throws Exception {
    Path part = file.resolveSibling("part");
    Files.copy(with, part);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private Map<String, Object> bound(int number) throws Exception {
    Map<String, Object> tls = secured(certificate(authority, number), trusted);
    tls.put(BLOCK + "bind-members", true);
    return tls;
  }

  /** Certificates of the authority are valid only for their own members. */
  @Test
  void boundCertificateOfAnotherHostIsRejected() throws Exception {
    startAll(List.of(bound(0), bound(1), bound(2)));
    for (int i = 0; i < 3; i++) {
      put(i, "through" + i);
      awaitKey((i + 1) % 3, "through" + i);
    }
    stop(2);
    // An attacker with a stolen key disables the check of its own certificate.
    Map<String, Object> stolen = secured(certificate(authority, 2), trusted);
    Issued other = authority.issue("other", "member", KeyForm.EC_SEC1, "127.0.0.7");
    stolen.put(BLOCK + "client-cert-file", other.cert().toString());
    stolen.put(BLOCK + "client-key-file", other.key().toString());
    for (int i = 0; i < 2; i++) {
      stop(i);
      Map<String, Object> anyAddress = bound(i);
      anyAddress.put(BLOCK + "skip-client-san-verification", true);
      start(i, anyAddress);
    }
    start(2, stolen);
    ServedStore.await()
        .untilAsserted(
            () ->
                assertThat(log.with("its certificate is not for the member that it names"))
                    .isNotEmpty());
    put(0, "without");
    assertThat(new Http1("127.0.0.1:" + clients[2]).get("/health").body()).contains("false");
  }

  /** Its peers would reject all of its messages, and it would wait for a leader forever. */
  @Test
  void boundMemberWhoseOwnCertificateIsForAnotherHostIsRefusedAtItsStart() throws Exception {
    Map<String, Object> wrong = bound(0);
    Issued other = authority.issue("other", "member", KeyForm.EC_SEC1, "127.0.0.7");
    wrong.put(BLOCK + "client-cert-file", other.cert().toString());
    wrong.put(BLOCK + "client-key-file", other.key().toString());
    assertThatThrownBy(() -> start(0, wrong))
        .hasMessageContaining("troupe.peer-transport-security.bind-members = true")
        .hasMessageContaining("is for [127.0.0.7]: expected 127.0.0.1, the host of");
    assertThat(directory.resolve("data0").resolve("identity")).doesNotExist();
  }

  @Test
  void peersNeedCertificateOfSameAuthority_TL1_TL2() throws Exception {
    Issued[] own = new Issued[3];
    for (int i = 0; i < 3; i++) {
      own[i] = certificate(authority, i);
    }
    startAll(List.of(secured(own[0], trusted), secured(own[1], trusted), secured(own[2], trusted)));
    put(0, "first");
    awaitKey(2, "first");
    stop(2);
    put(1, "second");

    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    TestAuthority other = new TestAuthority(elsewhere, "other");
    start(2, secured(certificate(other, 2), other.file()));
    for (int i = 0; i < 30; i++) {
      put(i % 2, "meanwhile");
    }
    ServedStore.await()
        .untilAsserted(
            () -> assertThat(log.with("rejected connection on peer endpoint")).isNotEmpty());
    RunningNode foreign = nodes[2];
    assertThat(foreign).isNotNull();
    assertThat(new Http1("127.0.0.1:" + clients[2]).get("/health").body()).contains("false");
    assertThat(log.with("rejected connection on peer endpoint"))
        .as("a line of each member, not one for each attempt")
        .hasSizeLessThanOrEqualTo(3);
    stop(2);

    // A new authority in steps: first trusted, then used, then the old one is removed.
    Path next = Files.createDirectory(directory.resolve("next"));
    TestAuthority successor = new TestAuthority(next, "successor");
    Path both = directory.resolve("both.pem");
    Files.writeString(
        both, Files.readString(authority.file()) + Files.readString(successor.file()));
    replace(both, trusted);
    for (int i = 0; i < 2; i++) {
      Issued renewed = certificate(successor, i);
      replace(renewed.key(), own[i].key());
      replace(renewed.cert(), own[i].cert());
      put(i, "renewed");
    }
    start(2, secured(certificate(successor, 2), successor.file()));
    RunningNode third = nodes[2];
    assertThat(third).isNotNull();
    third.awaitReady();
    awaitKey(2, "second");
    put(2, "third");
    awaitKey(0, "third");
    awaitKey(1, "third");
    assertThat(log.with("is cut off")).isEmpty();
  }

  /**
   * Its server side is valid, so it receives messages; its own messages come from another address.
   */
  private Map<String, Object> fromElsewhere(int number) throws Exception {
    Issued shown = authority.issue("elsewhere" + number, "member", KeyForm.EC_SEC1, "10.9.9.9");
    Map<String, Object> tls = secured(certificate(authority, number), trusted);
    tls.put(BLOCK + "client-cert-file", shown.cert().toString());
    tls.put(BLOCK + "client-key-file", shown.key().toString());
    return tls;
  }

  @Test
  void certificateForAnotherAddressIsRejected_TL2() throws Exception {
    List<Map<String, Object>> all = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      all.add(secured(certificate(authority, i), trusted));
    }
    // The certificate has only a DNS name: a lookup resolves it to the loopback.
    Issued named = authority.issue("n2", "member", KeyForm.EC_SEC1, "localhost");
    Map<String, Object> byName = secured(certificate(authority, 2), trusted);
    byName.put(BLOCK + "client-cert-file", named.cert().toString());
    byName.put(BLOCK + "client-key-file", named.key().toString());
    all.add(byName);
    startAll(all);
    put(2, "first");
    stop(2);
    assertThat(log.with("rejected connection on peer endpoint")).isEmpty();

    start(2, fromElsewhere(2));
    ServedStore.await()
        .untilAsserted(
            () ->
                assertThat(
                        log.with("error=\"x509: certificate is valid for 10.9.9.9, not 127.0.0.1"))
                    .isNotEmpty());
    for (int i = 0; i < 10; i++) {
      put(i % 2, "meanwhile");
    }
    assertThat(new Http1("127.0.0.1:" + clients[2]).get("/health").body()).contains("false");
    assertThat(log.with("rejected connection on peer endpoint"))
        .as("a line of each member, not one for each attempt")
        .hasSizeLessThanOrEqualTo(2);
    stop(2);

    start(2, byName);
    put(2, "second");
    awaitKey(2, "meanwhile");
    assertThat(log.with("is cut off")).isEmpty();
  }

  @Test
  void certificateForAnotherAddressIsAcceptedWithoutVerification_TL2() throws Exception {
    List<Map<String, Object>> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Map<String, Object> tls = fromElsewhere(i);
      tls.put(BLOCK + "skip-client-san-verification", true);
      all.add(tls);
    }
    startAll(all);
    put(0, "first");
    awaitKey(1, "first");
    awaitKey(2, "first");
    assertThat(log.with("rejected connection on peer endpoint")).isEmpty();
  }

  @Test
  void membersWithAutoTlsTrustAnyCertificate_TL5() throws Exception {
    Map<String, Object> auto = Map.of(BLOCK + "auto-tls", true);
    startAll(List.of(auto, auto, auto));
    put(0, "first");
    awaitKey(1, "first");
    awaitKey(2, "first");
    assertThat(directory.resolve("data0/fixtures/peer/cert.pem")).exists();
    stop(0);
    put(1, "second");
    start(0, auto);
    awaitKey(0, "second");
  }

  @Test
  void plaintextPeerUrlIsRefusedWithTls() throws Exception {
    Map<String, Object> settings = new HashMap<>(secured(certificate(authority, 0), trusted));
    settings.put("troupe.data-dir", directory.resolve("data").toString());
    settings.put("troupe.listen-peer-urls", url(0));
    settings.put("troupe.initial-advertise-peer-urls", "http://127.0.0.1:" + peers[0]);
    settings.put("troupe.initial-cluster", "default=http://127.0.0.1:" + peers[0]);
    Config config = TestConfig.of(settings);
    assertThatThrownBy(() -> RunningNode.start(config, failure -> {}))
        .hasMessageContaining("expected https or unixs for all, or for none");
  }
}
