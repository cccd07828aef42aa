package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.FreePort;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members with two peer URLs each, of which one or both can be reached. */
@Clusters
@Tag("full")
@HeapIndependent
class SeveralPeerUrlsIT {
  private final Path directory;
  private final List<Member> members = new ArrayList<>();
  private final List<NodeProcess> running = new ArrayList<>();

  SeveralPeerUrlsIT() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "urls-").toAbsolutePath();
    for (int i = 0; i < 4; i++) {
      members.add(new Member("m" + i, FreePort.next(), FreePort.next()));
    }
  }

  /** The first URL sorts before the second one as text. */
  private record Member(String name, int firstPort, int secondPort) {
    String first() {
      return "http://127.0.0.1:" + firstPort;
    }

    String second() {
      return "http://127.0.0.2:" + secondPort;
    }

    String both() {
      return first() + "," + second();
    }
  }

  @AfterEach
  void end() {
    running.forEach(NodeProcess::close);
  }

  private NodeProcess start(Member member, int size, String state, String listen) {
    String cluster =
        members.subList(0, size).stream()
            .map(each -> each.name() + "=" + each.first() + "," + each.name() + "=" + each.second())
            .collect(Collectors.joining(","));
    NodeProcess started =
        NodeProcess.member(TestJdks.running(), directory.resolve(member.name()))
            .named(member.name())
            .setting("name", member.name())
            .setting("listen-peer-urls", listen)
            .setting("initial-advertise-peer-urls", member.both())
            .setting("initial-cluster", cluster)
            .setting("initial-cluster-state", state)
            .start();
    running.add(started);
    return started;
  }

  private String run(int member, String... args) {
    List<String> command = new ArrayList<>(List.of("etcdctl"));
    command.add("--endpoints=" + running.get(member).endpoint());
    command.addAll(List.of(args));
    try (NodeProcess etcdctl =
        NodeProcess.program(directory, command.toArray(String[]::new))
            .environment("ETCDCTL_API", "3")
            .named("etcdctl")
            .start()) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isZero();
      return etcdctl.out();
    }
  }

  /** Nothing listens at the first URL of any member. */
  @Test
  void membersReachEachOtherAtTheirSecondUrls() {
    IntStream.range(0, 3).forEach(i -> start(members.get(i), 3, "new", members.get(i).second()));
    running.forEach(NodeProcess::awaitReady);
    for (int i = 0; i < 3; i++) {
      assertThat(run(i, "put", "key" + i, "value")).startsWith("OK");
    }
    String joining = members.get(3).both();
    ProcessCluster.await("a cluster that accepts a member")
        .untilAsserted(
            () ->
                assertThat(run(0, "member", "add", "m3", "--peer-urls=" + joining))
                    .contains("added to cluster"));
    start(members.get(3), 4, "existing", members.get(3).second()).awaitReady();
    assertThat(run(3, "get", "key1", "--print-value-only")).isEqualTo("value\n");
    for (Member member : members) {
      assertThat(run(3, "member", "list")).contains(member.both());
    }
  }

  private static void connect(byte host, int port) throws IOException {
    InetAddress address = InetAddress.getByAddress(new byte[] {127, 0, 0, host});
    try (Socket socket = new Socket(address, port)) {
      assertThat(socket.isConnected()).isTrue();
    }
  }

  @Test
  void memberListensOnAllItsUrls() throws IOException {
    Member one = members.get(0);
    start(one, 1, "new", one.both()).awaitReady();
    connect((byte) 1, one.firstPort());
    connect((byte) 2, one.secondPort());
  }
}
