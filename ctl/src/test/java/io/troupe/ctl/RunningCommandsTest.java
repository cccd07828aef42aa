package io.troupe.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.ctl.cli.Console;
import io.troupe.testkit.TroupeServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Commands that run until they are stopped, and commands that need several members. */
@Tag("full")
class RunningCommandsTest {
  /** A command in a thread of its own. */
  private static final class Run {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final CompletableFuture<Integer> exit = new CompletableFuture<>();

    Run(InputStream in, String endpoint, String... args) {
      List<String> line = new ArrayList<>(List.of("--endpoints=" + endpoint));
      line.addAll(List.of(args));
      Console console = new Console(in, out, err, Map.of(), false, false);
      Thread thread = new Thread(() -> exit.complete(new Ctl(console).run(line)));
      thread.setDaemon(true);
      thread.start();
    }

    String out() {
      return out.toString(StandardCharsets.UTF_8);
    }

    String err() {
      return err.toString(StandardCharsets.UTF_8);
    }

    void awaitOut(String text) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(out()).contains(text));
    }

    int exit() throws Exception {
      return exit.get(60, TimeUnit.SECONDS);
    }
  }

  private static Run start(String endpoint, String... args) {
    return new Run(InputStream.nullInputStream(), endpoint, args);
  }

  private static String ctl(String endpoint, String... args) throws Exception {
    Run run = start(endpoint, args);
    assertThat(run.exit()).as(run.err()).isZero();
    return run.out();
  }

  @Test
  void watchContinuesAfterARestartOfTheServer() throws Exception {
    try (TroupeServer server = TroupeServer.builder().start()) {
      Run watch = start(server.endpoint(), "watch", "k", "--prefix", "--rev=1");
      ctl(server.endpoint(), "put", "k1", "before");
      watch.awaitOut("PUT\nk1\nbefore\n");
      server.restart();
      ctl(server.endpoint(), "put", "k2", "after");
      watch.awaitOut("PUT\nk2\nafter\n");
      assertThat(watch.out()).isEqualTo("PUT\nk1\nbefore\nPUT\nk2\nafter\n");
    }
  }

  @Test
  void interactiveWatchReadsSeveralWatchesAndProgress() throws Exception {
    try (TroupeServer server = TroupeServer.builder().start();
        PipedOutputStream typed = new PipedOutputStream();
        PipedInputStream in = new PipedInputStream(typed)) {
      Run watch = new Run(in, server.endpoint(), "watch", "-i");
      type(typed, "watch a --rev=1");
      type(typed, "watch b --prefix --rev=1 -- echo changed");
      ctl(server.endpoint(), "put", "a", "1");
      watch.awaitOut("PUT\na\n1\n");
      ctl(server.endpoint(), "put", "b2", "2");
      watch.awaitOut("PUT\nb2\n2\nchanged\n");
      type(typed, "progress");
      watch.awaitOut("progress notify: 3\n");
      type(typed, "nonsense");
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(watch.err())
                      .contains("Invalid command nonsense (only support watch)"));
      typed.close();
      assertThat(watch.exit()).isEqualTo(3);
    }
  }

  private static void type(PipedOutputStream typed, String line) throws IOException {
    typed.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    typed.flush();
  }

  @Test
  void mirrorCopiesPresentKeysAndChanges() throws Exception {
    try (TroupeServer source = TroupeServer.builder().start();
        TroupeServer target = TroupeServer.builder().start()) {
      ctl(source.endpoint(), "put", "p/1", "one");
      ctl(source.endpoint(), "put", "other", "x");
      Run mirror =
          start(
              source.endpoint(),
              "make-mirror",
              target.endpoint(),
              "--prefix=p/",
              "--dest-prefix=q/",
              "--max-txn-ops=2");
      await(target, "q/1\none\n");
      String txn = "\nput p/2 two\nput p/3 three\nput p/4 four\ndel p/1\n\n\n";
      Run commit =
          new Run(
              new ByteArrayInputStream(txn.getBytes(StandardCharsets.UTF_8)),
              source.endpoint(),
              "txn");
      assertThat(commit.exit()).isZero();
      await(target, "q/2\ntwo\nq/3\nthree\nq/4\nfour\n");
      assertThat(mirror.exit.isDone()).isFalse();
    }
  }

  private static void await(TroupeServer server, String keys) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(ctl(server.endpoint(), "get", "--prefix", "")).isEqualTo(keys));
  }

  @Test
  void secondLockWaitsForTheFirst() throws Exception {
    try (TroupeServer server = TroupeServer.builder().start()) {
      Run first = start(server.endpoint(), "lock", "l", "--ttl=60");
      first.awaitOut("l/");
      Run second = start(server.endpoint(), "lock", "l", "echo", "acquired");
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(ctl(server.endpoint(), "get", "l/", "--prefix", "--keys-only").lines())
                      .hasSize(4));
      assertThat(second.exit.isDone()).isFalse();
      ctl(server.endpoint(), "del", first.out().strip());
      assertThat(second.exit()).isZero();
      assertThat(second.out()).isEqualTo("acquired\n");
    }
  }

  @Test
  void observerSeesTheLeaderOfAnElection() throws Exception {
    try (TroupeServer server = TroupeServer.builder().start()) {
      Run observer = start(server.endpoint(), "elect", "e", "-l");
      Run candidate = start(server.endpoint(), "elect", "e", "me");
      candidate.awaitOut("\nme\n");
      observer.awaitOut("\nme\n");
    }
  }

  @Test
  void membersAreExaminedAndLeadershipMoves() throws Exception {
    try (TroupeServer server = TroupeServer.builder().members(3).start()) {
      String all = String.join(",", server.endpoints());
      List<String> before = ctl(all, "endpoint", "status").lines().toList();
      String follower =
          before.stream()
              .filter(line -> line.contains("B, false, false,"))
              .findFirst()
              .orElseThrow();
      String id = List.of(follower.split(", ", -1)).get(1);
      assertThat(ctl(all, "move-leader", id)).endsWith(" to " + id + "\n");
      assertThat(ctl(server.endpoint(), "endpoint", "health", "--cluster").lines()).hasSize(3);
      assertThat(ctl(server.endpoint(), "top", "--count=1")).contains("leader", "follower");
      assertThat(ctl(server.endpoint(), "doctor", "--cluster"))
          .contains("OK    cluster: leader " + id, "OK    cluster: no alarm");
    }
  }

  @Test
  void unreachableEndpointIsSkipped() throws Exception {
    try (TroupeServer server = TroupeServer.builder().start()) {
      String both = "127.0.0.1:1," + server.endpoint();
      ctl(both, "put", "k", "v");
      assertThat(ctl(both, "get", "k")).isEqualTo("k\nv\n");
      Run health = start(both, "endpoint", "health", "--command-timeout=300ms");
      assertThat(health.exit()).isEqualTo(1);
      assertThat(health.err())
          .contains("127.0.0.1:1 is unhealthy: failed to commit proposal:")
          .endsWith("Error: unhealthy cluster\n");
      assertThat(health.out()).contains(server.endpoint() + " is healthy");
      Run doctor = start(both, "doctor");
      assertThat(doctor.exit()).isEqualTo(1);
      assertThat(doctor.out()).contains("FAIL  127.0.0.1:1: cannot connect", "      remedy: ");
    }
  }
}
