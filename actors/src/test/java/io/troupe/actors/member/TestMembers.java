package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.peers.LoopbackProxy;
import io.troupe.actors.peers.PeerTls;
import io.troupe.model.NodeId;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** The members of one cluster in one process, over real files and real connections. */
final class TestMembers implements AutoCloseable {
  static final Duration AWAIT_LIMIT = Duration.ofSeconds(30);

  private final List<TestMember> members = new ArrayList<>();
  private final List<LoopbackProxy> proxies = new ArrayList<>();

  private TestMembers() {}

  /** Starts this many members. */
  static TestMembers start(Path temp, int count, TestMember.Options options) throws IOException {
    Map<NodeId, String> urls = new TreeMap<>();
    for (int i = 1; i <= count; i++) {
      urls.put(new NodeId(i), "http://127.0.0.1:" + FreePort.next());
    }
    TestMembers made = new TestMembers();
    for (NodeId id : urls.keySet()) {
      TestMember member = new TestMember(id, temp.resolve("m" + id), urls, options);
      made.members.add(member);
      member.start();
    }
    return made;
  }

  /**
   * Starts this many members, whose URLs lead to proxies.
   *
   * @param ports ports on which the members listen
   * @param engines null for members without TLS
   */
  static TestMembers startBehindProxies(
      Path temp, List<Integer> ports, TestMember.Options options, @Nullable PeerTls engines)
      throws IOException {
    TestMembers made = new TestMembers();
    Map<NodeId, String> urls = new TreeMap<>();
    for (int i = 0; i < ports.size(); i++) {
      LoopbackProxy proxy = new LoopbackProxy(0, ports.get(i));
      made.proxies.add(proxy);
      urls.put(
          new NodeId(i + 1), (engines == null ? "http" : "https") + "://127.0.0.1:" + proxy.port());
    }
    for (NodeId id : urls.keySet()) {
      int port = ports.get((int) id.value() - 1);
      TestMember member = new TestMember(id, temp.resolve("m" + id), urls, options, port, engines);
      made.members.add(member);
      member.start();
    }
    return made;
  }

  /** Their proxies, in the same order. */
  List<LoopbackProxy> proxies() {
    return proxies;
  }

  /** In the order of their ids. */
  List<TestMember> all() {
    return members;
  }

  TestMember get(int index) {
    return members.get(index);
  }

  static void await(String what, BooleanSupplier condition) {
    Awaitility.await(what)
        .atMost(AWAIT_LIMIT)
        .pollInterval(Duration.ofMillis(10))
        .until(condition::getAsBoolean);
  }

  TestMember leader() {
    await("a leader", () -> members.stream().anyMatch(TestMember::leads));
    return members.stream().filter(TestMember::leads).findFirst().orElseGet(this::leader);
  }

  TestMember follower() {
    TestMember leader = leader();
    return members.stream().filter(m -> m.isUp() && m != leader).findFirst().orElseThrow();
  }

  /** Puts through a member; repeats the put if it was definitely refused or got no reply. */
  static Result put(TestMember through, String key, byte[] value) throws InterruptedException {
    long end = System.nanoTime() + AWAIT_LIMIT.toNanos();
    while (System.nanoTime() - end < 0) {
      try {
        ProposeReply reply = through.put(key, value).toCompletableFuture().join();
        if (reply instanceof ProposeReply.Applied applied) {
          return applied.result();
        }
      } catch (CompletionException timeout) {
        assertThat(timeout).hasRootCauseInstanceOf(java.util.concurrent.TimeoutException.class);
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    throw new AssertionError("no member applied " + key);
  }

  @Override
  public void close() {
    members.forEach(TestMember::close);
    for (LoopbackProxy proxy : proxies) {
      try {
        proxy.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
