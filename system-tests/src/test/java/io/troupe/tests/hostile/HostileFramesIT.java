package io.troupe.tests.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.troupe.tests.malformed.Http2Bytes;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Attacks with HTTP/2 frames on a member with a heap of 256 MiB. */
@Alone
class HostileFramesIT {
  private static final int ENHANCE_YOUR_CALM = 0xb;
  private static final long MIB = 1 << 20;

  @TempDir Path directory = Path.of("");

  private NodeProcess member() {
    return NodeProcess.member(TestJdks.running(), directory, "-XX:+ExitOnOutOfMemoryError")
        .start()
        .awaitReady();
  }

  private static Duration cpu(NodeProcess member) {
    return ProcessHandle.of(member.pid())
        .flatMap(process -> process.info().totalCpuDuration())
        .orElseThrow();
  }

  @Test
  void headerBlockLimitIsAdvertised() throws Exception {
    try (NodeProcess member = member();
        RawConnection connection = RawConnection.wide(Target.plain(member.port()))) {
      RawConnection.Frame first = connection.read().orElseThrow();
      assertThat(first.type()).isEqualTo(Http2Bytes.SETTINGS);
      ByteBuffer settings = first.payload();
      assertThat(settings.getShort()).as("SETTINGS_MAX_CONCURRENT_STREAMS").isEqualTo((short) 3);
      assertThat(settings.getInt()).isEqualTo(4096);
      assertThat(settings.getShort()).as("SETTINGS_MAX_HEADER_LIST_SIZE").isEqualTo((short) 6);
      assertThat(settings.getInt()).isEqualTo(64 << 10);
      assertThat(settings.hasRemaining()).isFalse();
    }
  }

  @Test
  void endlessHeaderBlocksCloseTheirConnection() throws Exception {
    try (NodeProcess member = member();
        WellBehavedClient client = WellBehavedClient.start(Target.plain(member.port()))) {
      for (int frameBytes : new int[] {0, 100, 16_384}) {
        HeaderFlood flood = new HeaderFlood(frameBytes, 1024 * MIB);
        flood.on(Target.plain(member.port())).close();
        System.out.println(
            "frame-bytes=" + frameBytes + " sent=" + flood.sentBytes() + " " + flood.goAway());
        assertThat(flood.sentBytes()).isLessThan(64 * MIB);
        assertThat(flood.goAway().orElse(ENHANCE_YOUR_CALM)).isEqualTo(ENHANCE_YOUR_CALM);
      }
      WellBehavedClient.Figures figures = client.figures();
      System.out.println("header floods: " + figures);
      assertThat(figures.failures()).isEmpty();
      assertThat(member.isAlive()).isTrue();
    }
  }

  @Test
  void resetStreamsDelayOthersLittle() throws Exception {
    ByteString some = ByteString.copyFromUtf8("some");
    byte[] put = PutRequest.newBuilder().setKey(some).setValue(some).build().toByteArray();
    ResetFlood flood = new ResetFlood("/etcdserverpb.KV/Put", put, 100_000);
    try (NodeProcess member = member();
        WellBehavedClient client = WellBehavedClient.start(Target.plain(member.port()))) {
      Duration before = cpu(member);
      long start = System.nanoTime();
      flood.on(Target.plain(member.port())).close();
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      Duration cost = cpu(member).minus(before);
      WellBehavedClient.Figures figures = client.figures();
      System.out.printf(
          "resets: took=%s cpu=%s connections=%d %s%n", took, cost, flood.connections(), figures);
      assertThat(figures.failures()).isEmpty();
      assertThat(figures.maxMs()).isLessThan(2000);
      assertThat(cost).isLessThan(Duration.ofSeconds(12));
      assertThat(flood.connections()).isGreaterThan(1);
    }
  }
}
