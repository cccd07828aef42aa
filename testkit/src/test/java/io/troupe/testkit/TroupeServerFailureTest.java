package io.troupe.testkit;

import static io.troupe.testkit.TestClient.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.etcd.jetcd.cluster.Member;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong use, failed starts and failed members: clear exceptions, and nothing is left. */
class TroupeServerFailureTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final Remains remains = new Remains();

  @AfterEach
  void nothingIsLeft() {
    assertThat(Remains.directories()).isEmpty();
    Awaitility.await()
        .pollInSameThread()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(remains.newThreads()).noneMatch(this::isOfMember));
  }

  /** Threads of jetcd may live longer. */
  private boolean isOfMember(String thread) {
    return thread.startsWith("troupe") || thread.contains("pekko");
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 2, 4, 5})
  void otherNumbersOfMembersAreRefused(int count) {
    assertThatThrownBy(() -> TroupeServer.builder().members(count))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("members " + count + " is wrong: expected 1 or 3");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "troupe.data-dir",
        "troupe.listen-client-urls",
        "troupe.initial-cluster",
        "troupe.discovery.token",
        "troupe.discovery",
        "troupe.memory-mlock",
        "troupe.log.level"
      })
  void settingsOfTheServerAreRefused(String key) {
    assertThatThrownBy(() -> TroupeServer.builder().setting(key, "x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(key)
        .hasMessageContaining("TroupeServer determines it");
  }

  @Test
  void keyWithoutPrefixIsRefused() {
    assertThatThrownBy(() -> TroupeServer.builder().setting("max-txn-ops", "5"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected a full key such as troupe.max-request-bytes");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0})
  void startTimeoutMustBePositive(long seconds) {
    assertThatThrownBy(() -> TroupeServer.builder().startTimeout(Duration.ofSeconds(seconds)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void unknownSettingFailsTheStart() {
    assertThatThrownBy(() -> TroupeServer.builder().setting("troupe.max-txn-opps", "5").start())
        .isInstanceOf(TroupeServerException.class)
        .hasMessageContaining("unknown key troupe.max-txn-opps");
  }

  @Test
  void wrongValueFailsTheStartOfThreeMembers() {
    assertThatThrownBy(
            () -> TroupeServer.builder().members(3).setting("troupe.election-timeout", "x").start())
        .isInstanceOf(TroupeServerException.class)
        .hasMessageContaining("troupe.election-timeout = \"x\" is wrong");
  }

  @Test
  void startTimeoutEndsTheStart() {
    assertThatThrownBy(
            () -> TroupeServer.builder().members(3).startTimeout(Duration.ofMillis(1)).start())
        .isInstanceOf(TroupeServerException.class)
        .hasMessageContaining("not all members were ready within");
  }

  @Test
  void interruptEndsTheStart() {
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> TroupeServer.builder().start())
          .isInstanceOf(TroupeServerException.class)
          .hasMessage("interrupted while starting");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void interruptedThreadClosesServerCompletely() {
    TroupeServer server = TroupeServer.builder().start();
    Thread.currentThread().interrupt();
    try {
      server.close();
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(Remains.openFiles()).isEmpty();
  }

  /** A socket that listens on a port, as a process that was faster. */
  private static ServerSocket listener(int port) throws IOException {
    ServerSocket listener = new ServerSocket();
    listener.setReuseAddress(true);
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    return listener;
  }

  @Test
  void startUsesOtherPortsIfProcessTookOne() throws IOException {
    ReservedPort taken = ReservedPort.open();
    Deque<ReservedPort> first = new ArrayDeque<>(List.of(taken));
    TroupeServer.Builder builder =
        TroupeServer.builder().ports(() -> first.isEmpty() ? ReservedPort.open() : first.remove());
    try (ServerSocket listener = listener(taken.number());
        TroupeServer server = builder.start();
        TestClient client = new TestClient(server.endpoint())) {
      assertThat(server.endpoint()).doesNotEndWith(":" + listener.getLocalPort());
      client.put("key", "value");
    }
  }

  @Test
  void restartFailsIfProcessTookThePort() throws IOException {
    try (TroupeServer server = TroupeServer.builder().start()) {
      server.stopMember(0);
      try (ServerSocket listener = listener(URI.create(server.endpoint()).getPort())) {
        assertThatThrownBy(() -> server.restartMember(0))
            .isInstanceOf(TroupeServerException.class)
            .hasMessageContaining("cannot listen on troupe.listen-client-urls")
            .hasMessageContaining(":" + listener.getLocalPort());
      }
      server.restartMember(0);
    }
  }

  @Test
  void callsOfClosedServerAreRefused() {
    TroupeServer server = TroupeServer.builder().start();
    server.close();
    assertThatThrownBy(server::endpoint)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("this TroupeServer is closed");
    assertThatThrownBy(server::restart).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> server.stopMember(0)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void unknownMemberIsRefused() {
    try (TroupeServer server = TroupeServer.builder().start()) {
      assertThatThrownBy(() -> server.stopMember(1))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("no member 1: this server has members 0 to 0");
      assertThatThrownBy(() -> server.restartMember(-1))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void failedMemberStopsAndNextCallThrows() {
    try (TroupeServer server = TroupeServer.builder().start()) {
      URI endpoint = URI.create(server.endpoint());
      IllegalStateException failure = new IllegalStateException("commit past log end");
      server.fail(0, failure);
      assertThatThrownBy(server::endpoint)
          .isInstanceOf(TroupeServerException.class)
          .hasMessageContaining("member0 failed")
          .hasMessageContaining("commit past log end")
          .hasCause(failure);
      assertThatThrownBy(server::restart).isInstanceOf(TroupeServerException.class);
      Awaitility.await().pollInSameThread().atMost(TIMEOUT).until(() -> isRefused(endpoint));
    }
  }

  private static boolean isRefused(URI endpoint) {
    try (Socket socket = new Socket(endpoint.getHost(), endpoint.getPort())) {
      return !socket.isConnected();
    } catch (ConnectException refused) {
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void removedMemberStopsAndTheOthersContinue() {
    // With the check a removal is refused until the members have been connected for some time.
    TroupeServer.Builder builder =
        TroupeServer.builder().members(3).setting("troupe.strict-reconfig-check", "false");
    try (TroupeServer server = builder.start();
        TestClient client = new TestClient(server.endpoints().get(0))) {
      List<Member> members = await(client.jetcd().getClusterClient().listMember()).getMembers();
      long id =
          members.stream()
              .filter(each -> each.getName().equals("member2"))
              .findFirst()
              .orElseThrow()
              .getId();
      await(client.jetcd().getClusterClient().removeMember(id));
      URI removed = URI.create(server.endpoints().get(2));
      Awaitility.await().pollInSameThread().atMost(TIMEOUT).until(() -> isRefused(removed));
      client.put("key", "value");
      assertThatThrownBy(() -> server.restartMember(2))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("member2 was removed from the cluster");
      server.restart();
      assertThat(client.get("key")).containsExactly("value");
    }
  }

  @Test
  void damagedDataFailsTheRestart() throws IOException {
    try (TroupeServer server = TroupeServer.builder().start()) {
      server.stopMember(0);
      for (Path file : walFiles()) {
        // The first bytes hold Chronicle's header.
        Files.write(file, new byte[8192], StandardOpenOption.TRUNCATE_EXISTING);
      }
      TroupeServerException failure =
          catchThrowableOfType(TroupeServerException.class, () -> server.restartMember(0));
      assertThat(failure).isNotNull().hasMessageStartingWith("cannot start: ");
      assertThat(String.valueOf(failure.getCause())).startsWith("io.troupe.");
    }
  }

  private static List<Path> walFiles() throws IOException {
    try (Stream<Path> all = Files.walk(Remains.directories().get(0))) {
      List<Path> found = all.filter(each -> each.toString().endsWith(".cq4")).toList();
      assertThat(found).isNotEmpty();
      return found;
    }
  }
}
