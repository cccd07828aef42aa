package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Q5 with members whose content was changed while they were stopped, with valid checksums: only a
 * comparison between members finds that. No client writes the damaged key again, so the digest of
 * applied effects is equal.
 */
@Clusters
@Tag("full")
@HeapIndependent
class DamagedContentIT {
  private static final String RIGHT = "the-right-value";
  private static final String WRONG = "the-wrong-value";
  private static final String OTHER = "any-other-value";
  private static final String CORRUPT = "etcdserver: corrupt cluster";
  private static final int DATA_CORRUPT = 4;

  private ProcessCluster cluster = new ProcessCluster(Path.of(""));

  @BeforeEach
  void prepare() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "damaged-"));
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  /** Starts three members with one value each; returns the leader. */
  private String start() {
    cluster.startNew("n1", "n2", "n3");
    String leader = cluster.awaitLeader();
    cluster.run(leader, "put", "damaged", RIGHT);
    cluster.run(leader, "put", "other", "1");
    for (String name : cluster.running()) {
      cluster.awaitKey(name, "other", "1");
    }
    return leader;
  }

  private List<String> followers(String leader) {
    return cluster.running().stream().filter(name -> !name.equals(leader)).toList();
  }

  /** Stops a member and changes its value. */
  private void damage(String name, String from, String to) {
    cluster.process(name).stop();
    replace(cluster.data(name).resolve("state"), from, to);
  }

  /** A stopped member is damaged and restarted; it serves the wrong value. */
  private void restartDamaged(String name, String value) {
    damage(name, RIGHT, value);
    cluster.restart(name).awaitReady();
    cluster.awaitKey(name, "damaged", value);
  }

  private static void replace(Path state, String from, String to) {
    byte[] wanted = from.getBytes(StandardCharsets.US_ASCII);
    byte[] given = to.getBytes(StandardCharsets.US_ASCII);
    assertThat(given).hasSameSizeAs(wanted);
    StoreBatch batch = new StoreBatch();
    try (RocksStore store = RocksStore.open(state, new RocksSettings(8 << 20, 4 << 20, 1, 64, 0))) {
      for (Space space : List.of(Space.KEY, Space.LATEST)) {
        try (Cursor rows = store.cursor(space, Bytes.EMPTY, null, false)) {
          while (rows.next()) {
            byte[] row = rows.value().toArray();
            int at = indexOf(row, wanted);
            if (at >= 0) {
              System.arraycopy(given, 0, row, at, given.length);
              batch.put(space, rows.key(), Bytes.wrap(row));
            }
          }
        }
      }
      assertThat(batch.changes()).as("the newest version").hasSize(1);
      store.write(batch);
    }
  }

  private static int indexOf(byte[] row, byte[] wanted) {
    return new String(row, StandardCharsets.ISO_8859_1)
        .indexOf(new String(wanted, StandardCharsets.ISO_8859_1));
  }

  private String id(String name) {
    String via = cluster.running().get(0);
    return cluster.id(via, cluster.peerUrl(name));
  }

  private static String alarmOf(String hexId) {
    return "memberID:"
        + Long.toUnsignedString(Long.parseUnsignedLong(hexId, 16))
        + " alarm:CORRUPT";
  }

  /** Between the fields any number of blanks may be. */
  private String alarms(String via) {
    return cluster.run(via, "alarm", "list").replaceAll("\\s+", " ").strip();
  }

  /** Waits for an alarm and checks that it is the only one. */
  private void awaitAlarm(String via, String alarm) {
    ProcessCluster.await("an alarm CORRUPT").until(() -> !alarms(via).isEmpty());
    assertThat(alarms(via)).isEqualTo(alarm);
  }

  /** Compacts at the current revision, which a put makes. */
  private void compact(String via) {
    String json = cluster.run(via, "put", "more", "x", "-w", "json");
    String revision = json.replaceAll(".*\"revision\":(\\d+).*", "$1").strip();
    cluster.run(via, "compact", revision);
  }

  private void moveLeader(String from, String to) {
    cluster.run(from, "move-leader", id(to));
    assertThat(cluster.awaitLeader()).isEqualTo(to);
  }

  /** Q4 and decision 0060: what each member serves while one member has the alarm. */
  private void assertOnlyReadsOfOthers(String accused, String other) {
    assertThat(cluster.failed(other, "put", "k", "v")).contains(CORRUPT);
    assertThat(cluster.failed(other, "compact", "2")).contains(CORRUPT);
    assertThat(cluster.run(other, "get", "other", "--print-value-only")).isEqualTo("1\n");
    assertThat(cluster.failed(accused, "get", "damaged", "--consistency=s")).contains(CORRUPT);
  }

  @Test
  void compactionHashesReportFollowerOutsideMajorityUntilRepair_Q5() {
    cluster.setting("feature-gates", "CompactHashCheck=true");
    cluster.setting("compact-hash-check-time", "300ms");
    String leader = start();
    String follower = followers(leader).get(0);
    String healthy = followers(leader).get(1);
    restartDamaged(follower, WRONG);
    String id = id(follower);

    compact(leader);
    awaitAlarm(leader, alarmOf(id));
    String line = cluster.process(leader).awaitLine("Detected compaction hash mismatch");
    assertThat(line).contains("accused=[" + id + "]");
    assertOnlyReadsOfOthers(follower, healthy);

    // A member whose alarm is disarmed too early raises it again.
    cluster.run(leader, "alarm", "disarm");
    awaitAlarm(leader, alarmOf(id));

    damage(follower, WRONG, RIGHT);
    cluster.restart(follower);
    cluster.run(leader, "alarm", "disarm");
    cluster.process(follower).awaitReady();
    compact(leader);
    cluster.process(leader).awaitLine("successfully checked hash on whole cluster");
    assertThat(alarms(leader)).isEmpty();
    cluster.run(follower, "put", "k", "v");
  }

  @Test
  void compactionHashesReportLeaderOutsideMajority_Q5() {
    cluster.setting("feature-gates", "CompactHashCheck=true");
    cluster.setting("compact-hash-check-time", "300ms");
    String first = start();
    String damaged = followers(first).get(0);
    restartDamaged(damaged, WRONG);
    String id = id(damaged);
    moveLeader(first, damaged);
    compact(first);
    awaitAlarm(first, alarmOf(id));
    cluster.process(damaged).awaitLine("Detected compaction hash mismatch accused=[" + id + "]");
    assertOnlyReadsOfOthers(damaged, first);
  }

  @Test
  void noMemberIsReportedWithoutMajority_Q5() {
    cluster.setting("feature-gates", "CompactHashCheck=true");
    cluster.setting("compact-hash-check-time", "300ms");
    String leader = start();
    List<String> followers = followers(leader);
    restartDamaged(followers.get(0), WRONG);
    restartDamaged(followers.get(1), OTHER);
    compact(cluster.awaitLeader());
    awaitAlarm(leader, "alarm:CORRUPT");
    cluster
        .process(cluster.awaitLeader())
        .awaitLine("cannot identify the corrupted members, so intentionally set the memberID as 0");
    // The alarm names no member: all members serve reads and refuse writes.
    for (String name : cluster.running()) {
      assertThat(cluster.run(name, "get", "other", "--print-value-only")).isEqualTo("1\n");
      assertThat(cluster.failed(name, "put", "k", "v")).contains(CORRUPT);
    }
  }

  @Test
  void periodicCheckReportsDifferingFollower_Q5() {
    cluster.setting("corrupt-check-time", "300ms");
    String leader = start();
    cluster.process(leader).awaitLine("finished peer corruption check number-of-peers-checked=2");
    // All other members keep the hash before the compaction of the current revision.
    compact(leader);
    String follower = followers(leader).get(1);
    String healthy = followers(leader).get(0);
    damage(follower, RIGHT, WRONG);
    // The alarm may be raised before the first read.
    cluster.restart(follower).awaitReady();
    String id = id(follower);
    awaitAlarm(leader, alarmOf(id));
    cluster.process(leader).awaitLine("same compact revision then hashes must match accused=" + id);
    assertOnlyReadsOfOthers(follower, healthy);
  }

  /**
   * The periodic check trusts the leader, as in etcd; the majority decides about compaction hashes.
   */
  @Test
  void periodicCheckOfDamagedLeaderReportsFirstFollower_Q5() {
    String first = start();
    String damaged = followers(first).get(0);
    String third = followers(first).get(1);
    damage(damaged, RIGHT, WRONG);
    // A healthy leader would find the damage first.
    cluster
        .start(
            damaged, "new", cluster.cluster("n1", "n2", "n3"), "-Dtroupe.corrupt-check-time=300ms")
        .awaitReady();
    moveLeader(first, damaged);
    String accused =
        Long.compareUnsigned(
                    Long.parseUnsignedLong(id(first), 16), Long.parseUnsignedLong(id(third), 16))
                < 0
            ? first
            : third;
    awaitAlarm(damaged, alarmOf(id(accused)));
    cluster
        .process(damaged)
        .awaitLine("same compact revision then hashes must match accused=" + id(accused));
    assertOnlyReadsOfOthers(accused, accused.equals(first) ? third : first);
  }

  @Test
  void memberWithDifferentContentDoesNotStart_Q5() {
    cluster.setting("feature-gates", "InitialCorruptCheck=true");
    String leader = start();
    // No writes follow, and the other members keep hashes from before the compaction.
    compact(leader);
    String follower = followers(leader).get(0);
    String healthy = followers(leader).get(1);
    String id = id(follower);
    damage(follower, RIGHT, WRONG);
    NodeProcess refused = cluster.restart(follower);
    assertThat(refused.awaitExit()).as("%s", refused).isEqualTo(DATA_CORRUPT);
    assertThat(refused.err())
        .contains("starting initial corruption check local-member-id=" + id)
        .contains("found different hash values from remote peer local-member-id=" + id)
        .contains("found data inconsistency with peers")
        .doesNotContain("initial corruption checking passed")
        .doesNotContain(NodeProcess.READY);
    assertThat(alarms(leader)).as("no member is reported").isEmpty();
    cluster.run(healthy, "put", "k", "v");

    replace(cluster.data(follower).resolve("state"), WRONG, RIGHT);
    NodeProcess mended = cluster.restart(follower).awaitReady();
    assertThat(mended.err())
        .contains("initial corruption checking passed; no corruption local-member-id=" + id);
    cluster.awaitKey(follower, "k", "v");
  }
}
