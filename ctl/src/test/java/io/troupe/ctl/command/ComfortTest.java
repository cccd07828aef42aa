package io.troupe.ctl.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmType;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.StatusResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ComfortTest {
  private static StatusResponse status(long member, long leader, long index, long applied) {
    return StatusResponse.newBuilder()
        .setHeader(ResponseHeader.newBuilder().setClusterId(7).setMemberId(member))
        .setLeader(leader)
        .setVersion("3.7.1")
        .setRaftTerm(2)
        .setRaftIndex(index)
        .setRaftAppliedIndex(applied)
        .setDbSize(5000)
        .setDbSizeInUse(4000)
        .setDbSizeQuota(100_000)
        .build();
  }

  @Test
  void progressShowsShareAndAmounts() {
    assertThat(Progress.line("x", 50, 100, 3, Long::toString))
        .isEqualTo("x [===============               ]  50% 50/100 3s");
    assertThat(Progress.line("x", 0, 0, 3, Long::toString)).isEqualTo("x 3s");
    assertThat(Progress.line("x", 7, 0, 3, n -> n + " B")).isEqualTo("x 7 B 3s");
    assertThat(Progress.line("x", 9, 4, 3, Long::toString)).contains("100%");
  }

  @Test
  void topShowsLeaderRatesLagAndAlarms() {
    Member leader = Member.newBuilder().setID(0x1a).setName("a").build();
    Member follower = Member.newBuilder().setID(0x1b).setName("b").build();
    Member lost = Member.newBuilder().setID(0x1c).setName("c").build();
    TopCommand.Sample before = new TopCommand.Sample(0, 100, 0, 10);
    TopCommand.Sample now = new TopCommand.Sample(2_000_000_000L, 300, 0, 12);
    List<List<String>> rows =
        TopCommand.rows(
            List.of(
                new TopCommand.Row(leader, status(0x1a, 0x1a, 90, 90), now),
                new TopCommand.Row(follower, status(0x1b, 0x1a, 88, 85), now),
                new TopCommand.Row(lost, null, now)),
            Map.of(0x1aL, before),
            List.of(
                AlarmMember.newBuilder().setMemberID(0x1b).setAlarm(AlarmType.NOSPACE).build()));
    assertThat(rows.get(0))
        .containsExactly(
            "1a", "a", "leader", "3.7.1", "2", "90", "0", "100", "0", "1", "5.0 kB", "");
    assertThat(rows.get(1))
        .containsExactly(
            "1b", "b", "follower", "3.7.1", "2", "85", "5", "-", "-", "-", "5.0 kB", "NOSPACE");
    assertThat(rows.get(2).get(2)).isEqualTo("unreachable");
  }

  @Test
  void metricsAreReadFromPrometheusText() {
    Metrics metrics = Metrics.parse("# TYPE a counter\na 3\nb{x=\"1\"} 2.5e3\nbad line x\n");
    assertThat(metrics.value("a")).hasValue(3);
    assertThat(metrics.value("b{x=\"1\"}")).hasValue(2500);
    assertThat(metrics.value("bad line")).isEmpty();
  }

  private static List<Finding.Level> levels(List<Finding> findings) {
    return findings.stream().map(Finding::level).toList();
  }

  @Test
  void doctorRatesFlushesAndFiles() {
    String name = "etcd_disk_wal_fsync_duration_seconds";
    assertThat(
            levels(
                Diagnosis.metrics(
                    "e",
                    Metrics.parse(
                        name
                            + "_count 100\n"
                            + name
                            + "_sum 0.2\nprocess_open_fds 10\nprocess_max_fds 100\n"))))
        .containsExactly(Finding.Level.OK, Finding.Level.OK);
    List<Finding> bad =
        Diagnosis.metrics(
            "e",
            Metrics.parse(
                name
                    + "_count 100\n"
                    + name
                    + "_sum 2\nprocess_open_fds 90\nprocess_max_fds 100\n"));
    assertThat(levels(bad)).containsExactly(Finding.Level.WARN, Finding.Level.FAIL);
    assertThat(bad).allMatch(finding -> !finding.remedy().isEmpty());
    assertThat(levels(Diagnosis.metrics("e", new Metrics(Map.of(), "refused"))))
        .containsExactly(Finding.Level.WARN);
  }

  @Test
  void doctorRatesTheCluster() {
    assertThat(levels(Diagnosis.cluster(Map.of("a", status(1, 1, 10, 10)))))
        .containsOnly(Finding.Level.OK);
    List<Finding> bad =
        Diagnosis.cluster(
            Map.of(
                "a",
                status(1, 0, 5000, 10),
                "b",
                status(2, 2, 5000, 5000).toBuilder()
                    .setVersion("3.6.0")
                    .setDbSizeInUse(90_000)
                    .build()));
    assertThat(bad.stream().map(Finding::text).toList())
        .contains("the member has no leader", "the member lags by 4990 entries")
        .anyMatch(text -> text.startsWith("members have several versions"))
        .anyMatch(text -> text.startsWith("the data takes 90 kB of 100 kB"));
  }

  @Test
  void doctorRatesClockAndLatency() {
    assertThat(Diagnosis.clock("e", Duration.ofSeconds(-1)).level()).isEqualTo(Finding.Level.OK);
    assertThat(Diagnosis.clock("e", Duration.ofSeconds(-9)).level()).isEqualTo(Finding.Level.WARN);
    assertThat(Diagnosis.latency("e", Duration.ofMillis(5)).level()).isEqualTo(Finding.Level.OK);
    assertThat(Diagnosis.latency("e", Duration.ofMillis(500)).level())
        .isEqualTo(Finding.Level.WARN);
  }
}
