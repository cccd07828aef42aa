package io.troupe.actors.snapshot;

import static io.troupe.actors.member.ShownMetrics.value;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.member.ShownMetrics;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.SnapshotTransport;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two transfer actors, and a connection between them that the test can cut. */
class TransferMetricsTest {
  private static final NodeId LEADER = new NodeId(0xa);
  private static final NodeId FOLLOWER = new NodeId(0xb);
  private static final String TO = "{To=\"b\"}";
  private static final String FROM = "{From=\"a\"}";
  private static final String SEND = "etcd_network_snapshot_send_";
  private static final String RECEIVE = "etcd_network_snapshot_receive_";

  private final ActorTestKit kit = ActorTestKit.create();
  private final TestProbe<RaftCommand> leaderRaft = kit.createTestProbe();
  private final TestProbe<RaftCommand> followerRaft = kit.createTestProbe();
  private final TestProbe<SnapshotCommand> asker = kit.createTestProbe();
  private final MemberMetrics sent = new MemberMetrics();
  private final MemberMetrics received = new MemberMetrics();
  private final AtomicBoolean chunksPass = new AtomicBoolean(true);
  private final AtomicBoolean diskIsLow = new AtomicBoolean();
  private final AtomicReference<ActorRef<TransferCommand>> leader = new AtomicReference<>();
  private final AtomicReference<ActorRef<TransferCommand>> follower = new AtomicReference<>();
  private final Path snapshots;
  private final SnapshotRef snapshot;

  TransferMetricsTest(@TempDir Path temp) throws IOException {
    snapshots = temp.resolve("source");
    SnapshotDirectory source = new SnapshotDirectory(snapshots);
    Path content = source.prepare(10, 3);
    Files.createDirectories(content);
    Files.write(content.resolve("000001.sst"), new byte[5000]);
    Files.write(content.resolve("CURRENT"), new byte[10]);
    snapshot =
        new SnapshotRef(
            10, 3, MembershipCodec.encode(Membership.ofVoters(LEADER, FOLLOWER)), content);
    source.save(snapshot);
    leader.set(
        spawn(snapshots, leaderRaft, (to, message) -> pass(follower, LEADER, message), sent));
    follower.set(
        spawn(
            temp.resolve("target"),
            followerRaft,
            (to, message) -> pass(leader, FOLLOWER, message),
            received));
  }

  private ActorRef<TransferCommand> spawn(
      Path snapshots, TestProbe<RaftCommand> raft, SnapshotTransport peers, MemberMetrics metrics) {
    DiskCapacity disk =
        new DiskCapacity() {
          @Override
          public boolean isLow() {
            return diskIsLow.get();
          }

          @Override
          public long freeBytes() {
            return Long.MAX_VALUE;
          }
        };
    return kit.spawn(
        TransferActor.create(
            snapshots,
            TransferSettings.of(64 << 20),
            new TransferActor.Links(raft.getRef(), peers, disk, metrics.snapshots())));
  }

  private void pass(
      AtomicReference<ActorRef<TransferCommand>> to, NodeId from, SnapshotMessage message) {
    if (chunksPass.get() || !(message instanceof SnapshotMessage.Chunk)) {
      Objects.requireNonNull(to.get()).tell(new TransferCommand.FromPeer(from, message, () -> {}));
    }
  }

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private void send() {
    send(1);
  }

  private void send(long transfer) {
    Objects.requireNonNull(leader.get())
        .tell(new TransferCommand.Start(FOLLOWER, transfer, 4, snapshot, asker.getRef()));
  }

  /** What the leader's raft and snapshot actors receive. */
  private void expectEnd(long transfer, boolean ok) {
    leaderRaft.expectMessage(
        new RaftCommand.SnapshotSent(FOLLOWER, transfer, snapshot.index(), ok));
    asker.expectMessage(new SnapshotActor.TransferEnded(FOLLOWER, transfer, ok));
  }

  private boolean sentOk() {
    RaftCommand.SnapshotSent over = leaderRaft.expectMessageClass(RaftCommand.SnapshotSent.class);
    assertThat(over.to()).isEqualTo(FOLLOWER);
    return over.ok();
  }

  private static void awaitValue(MemberMetrics of, String sample, double value) {
    Awaitility.await(sample + " is " + value)
        .until(
            () -> ShownMetrics.of(of).stream().anyMatch(line -> line.equals(sample + " " + value)));
  }

  @Test
  void completedTransferIsCountedOnBothSides() {
    assertThat(ShownMetrics.of(sent))
        .as("series of a member begin with its first transfer")
        .noneMatch(line -> line.startsWith("etcd_network_snapshot_"));
    send();
    assertThat(sentOk()).isTrue();
    followerRaft.expectMessageClass(RaftCommand.SnapshotReceived.class);
    assertThat(value(sent, SEND + "success" + TO)).isEqualTo(1);
    assertThat(value(sent, SEND + "inflights_total" + TO)).isZero();
    assertThat(value(sent, SEND + "total_duration_seconds_count" + TO)).isEqualTo(1);
    assertThat(value(sent, SEND + "total_duration_seconds_sum" + TO)).isPositive();
    assertThat(value(received, RECEIVE + "success" + FROM)).isEqualTo(1);
    assertThat(value(received, RECEIVE + "inflights_total" + FROM)).isZero();
    assertThat(value(received, RECEIVE + "total_duration_seconds_count" + FROM)).isEqualTo(1);
    assertThat(value(received, "etcd_snap_db_save_total_duration_seconds_count")).isEqualTo(1);
    assertThat(value(received, "etcd_snap_db_save_total_duration_seconds_sum")).isPositive();
    assertThat(value(received, "etcd_snap_db_fsync_duration_seconds_count"))
        .as("one for each file")
        .isEqualTo(2);
    assertThat(ShownMetrics.of(sent))
        .contains("# TYPE " + SEND + "success counter", "# TYPE " + SEND + "inflights_total gauge")
        .noneMatch(line -> line.startsWith(SEND + "failures"));
  }

  @Test
  void transferInProgressIsCountedAndReplacedByNextOne() {
    chunksPass.set(false);
    send();
    awaitValue(sent, SEND + "inflights_total" + TO, 1);
    awaitValue(received, RECEIVE + "inflights_total" + FROM, 1);
    send();
    assertThat(sentOk()).as("the first").isFalse();
    awaitValue(sent, SEND + "inflights_total" + TO, 1);
    chunksPass.set(true);
    assertThat(sentOk()).as("the second").isTrue();
    assertThat(value(sent, SEND + "failures" + TO)).isEqualTo(1);
    assertThat(value(sent, SEND + "success" + TO)).isEqualTo(1);
    assertThat(value(sent, SEND + "inflights_total" + TO)).isZero();
    // The receiver counts one transfer: the same content from the same member.
    assertThat(value(received, RECEIVE + "success" + FROM)).isEqualTo(1);
    assertThat(value(received, RECEIVE + "inflights_total" + FROM)).isZero();
    assertThat(ShownMetrics.of(received)).noneMatch(line -> line.startsWith(RECEIVE + "failures"));
  }

  @Test
  void nextLeaderContinuesTransferOfFormerLeader() {
    chunksPass.set(false);
    send();
    awaitValue(received, RECEIVE + "inflights_total" + FROM, 1);
    TestProbe<RaftCommand> nextRaft = kit.createTestProbe();
    NodeId next = new NodeId(0xc);
    ActorRef<TransferCommand> first = Objects.requireNonNull(leader.get());
    leader.set(
        spawn(
            snapshots,
            nextRaft,
            (to, message) -> pass(follower, next, message),
            new MemberMetrics()));
    kit.stop(first);
    assertThat(value(sent, SEND + "failures" + TO)).as("its actor stopped").isEqualTo(1);
    assertThat(value(sent, SEND + "inflights_total" + TO)).isZero();
    chunksPass.set(true);
    Objects.requireNonNull(leader.get())
        .tell(new TransferCommand.Start(FOLLOWER, 1, 5, snapshot, asker.getRef()));
    assertThat(nextRaft.expectMessageClass(RaftCommand.SnapshotSent.class).ok()).isTrue();
    assertThat(value(received, RECEIVE + "failures" + FROM)).isEqualTo(1);
    assertThat(value(received, RECEIVE + "inflights_total" + FROM)).isZero();
    assertThat(value(received, RECEIVE + "success{From=\"c\"}")).isEqualTo(1);
    assertThat(value(received, RECEIVE + "inflights_total{From=\"c\"}")).isZero();
  }

  @Test
  void endOfReplacedTransferIsReportedUnderItsOwnNumber() {
    chunksPass.set(false);
    send(7);
    awaitValue(sent, SEND + "inflights_total" + TO, 1);
    send(8);
    expectEnd(7, false);
    chunksPass.set(true);
    expectEnd(8, true);
  }

  @Test
  void receiverWithoutDiskSpaceRefusesTransfer() {
    diskIsLow.set(true);
    send();
    assertThat(sentOk()).isFalse();
    assertThat(value(sent, SEND + "failures" + TO)).isEqualTo(1);
    assertThat(value(sent, SEND + "inflights_total" + TO)).isZero();
    assertThat(value(received, RECEIVE + "failures" + FROM)).isEqualTo(1);
    assertThat(ShownMetrics.of(received))
        .noneMatch(line -> line.startsWith(RECEIVE + "inflights_total{"));
  }

  @Test
  void transferOfMissingSnapshotIsNotStarted() throws IOException {
    Files.delete(snapshot.directory().resolve("CURRENT"));
    send();
    assertThat(sentOk()).isFalse();
    assertThat(value(sent, SEND + "failures" + TO)).isEqualTo(1);
    assertThat(ShownMetrics.of(sent)).noneMatch(line -> line.startsWith(SEND + "inflights_total{"));
  }
}
