package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.TransferReply;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchReply;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.raft.ReplicationStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three members over real files and real connections, in one process. */
class ThreeMembersTest {
  private static final String INSTALLING = "etcd_server_snapshot_apply_in_progress_total";

  private final Path temp;
  private @Nullable TestMembers members;
  private int puts;

  ThreeMembersTest(@TempDir Path temp) {
    this.temp = temp;
  }

  private void start(long snapshotCount) throws IOException {
    members = TestMembers.start(temp, 3, new TestMember.Options(snapshotCount, 0));
  }

  private TestMembers members() {
    return Objects.requireNonNull(members, "not started");
  }

  @AfterEach
  void stop() {
    members().close();
  }

  private TestMember leader() {
    return members().leader();
  }

  private TestMember follower() {
    return members().follower();
  }

  /** Puts a new key through a member. */
  private void put(TestMember through, byte[] value) throws InterruptedException {
    TestMembers.put(through, "k" + ++puts, value);
  }

  private static long keys(TestMember member) {
    try {
      return member.refs().state().count(TestMember.ALL, 0);
    } catch (RefusedException closedForAMoment) {
      return -1;
    }
  }

  private void awaitEqual() throws InterruptedException {
    for (TestMember member : members().all()) {
      TestMembers.await(puts + " keys on " + member.id, () -> keys(member) == puts);
    }
    int hash = members().get(0).refs().state().hashKv(0).hash();
    for (TestMember member : members().all()) {
      assertThat(member.refs().state().hashKv(0).hash()).as("hash of " + member.id).isEqualTo(hash);
      assertThat(member.broken).as("failures of " + member.id).isEmpty();
    }
  }

  @Test
  void allMembersTakeWritesAndClusterSurvivesLossOfLeader() throws Exception {
    start(1000);
    leader();
    for (int i = 0; i < 60; i++) {
      put(members().get(i % 3), new byte[100]);
    }
    // Longer than a frame.
    put(follower(), new byte[500_000]);
    awaitEqual();

    TestMember gone = leader();
    gone.close();
    for (int i = 0; i < 30; i++) {
      put(follower(), new byte[100]);
    }
    assertThat(leader()).isNotSameAs(gone);
    long beforeStart = System.nanoTime();
    gone.start();
    awaitEqual();
    put(gone, new byte[100]);
    awaitEqual();
    // Q7.
    assertThat(gone.refs().status().isConnectedSince(beforeStart)).isFalse();
    for (TestMember member : members().all()) {
      TestMembers.await(
          member.id + " hears its leader, or a majority",
          () -> member.refs().status().isConnectedSince(System.nanoTime()));
    }
  }

  @Test
  void laggingMemberReceivesEntriesFromLogFiles() throws Exception {
    start(1_000_000);
    TestMember away = follower();
    away.close();
    // The leader keeps 64 KiB of entries in memory.
    for (int i = 0; i < 100; i++) {
      put(leader(), new byte[5000]);
    }
    away.start();
    TestMembers.await("the actors of " + away.id, () -> keys(away) >= 0);
    ActorRef<RaftCommand> actor = away.refs().raft();
    awaitEqual();
    assertThat(away.refs().raft()).as("no snapshot was needed").isEqualTo(actor);
  }

  @Test
  void noMemberNeedsSnapshotAfterFullRestart() throws Exception {
    start(1_000_000);
    TestMember away = follower();
    away.close();
    for (int i = 0; i < 20; i++) {
      put(leader(), new byte[100]);
    }
    members().all().forEach(TestMember::close);
    members().all().forEach(TestMember::start);
    TestMembers.await("the actors of " + away.id, () -> keys(away) >= 0);
    ActorRef<RaftCommand> actor = away.refs().raft();
    awaitEqual();
    assertThat(away.refs().raft()).as("no snapshot was needed").isEqualTo(actor);
  }

  /** Starts a follower that needs entries that the leader has released. */
  private TestMember startWithAFollowerPastTheLog() throws Exception {
    start(20);
    for (int i = 0; i < 10; i++) {
      put(leader(), new byte[100]);
    }
    awaitEqual();
    TestMember away = follower();
    away.close();
    for (int i = 0; i < 200; i++) {
      put(leader(), new byte[3000]);
    }
    away.start();
    return away;
  }

  @Test
  void memberThatNeedsReleasedEntriesReceivesSnapshot() throws Exception {
    TestMember away = startWithAFollowerPastTheLog();
    TestMembers.await("the actors of " + away.id, () -> keys(away) >= 0);
    ActorRef<RaftCommand> before = away.refs().raft();
    CompletableFuture<List<WatchReply>> watching = watch(away);
    awaitEqual();
    assertThat(away.refs().raft()).as("the actors restarted").isNotEqualTo(before);
    assertThat(watching).as("a stream ends, the client resumes").isCompletedExceptionally();
    assertSnapshotCounted(away);
    // The new actors work, also after a restart from the new files.
    put(away, new byte[100]);
    awaitEqual();
    away.close();
    put(leader(), new byte[100]);
    away.start();
    awaitEqual();
  }

  /**
   * A caller that proposes continuously, as a member that publishes itself does, always gets a
   * reply.
   */
  @Test
  void noProposalIsLostWhileReceivedSnapshotIsInstalled() throws Exception {
    TestMember away = startWithAFollowerPastTheLog();
    ActorRef<RaftCommand> before = away.refs().raft();
    Proposers proposers = new Proposers(away, 32);
    TestMembers.await(
        "the actors over the new files",
        () -> !away.refs().raft().equals(before) && keys(away) > 200);
    assertThat(proposers.end()).isEmpty();
    assertThat(proposers.replies.sum()).isGreaterThan(100);
  }

  /** Keeps this many proposals in flight. */
  private static final class Proposers {
    private final TestMember member;
    private final Phaser running = new Phaser(1);
    private final Queue<Throwable> lost = new ConcurrentLinkedQueue<>();
    private final LongAdder replies = new LongAdder();
    private volatile boolean ended;

    Proposers(TestMember member, int count) {
      this.member = member;
      for (int i = 0; i < count; i++) {
        running.register();
        propose();
      }
    }

    private void propose() {
      member
          .put("during", new byte[10])
          .whenCompleteAsync(
              (reply, failure) -> {
                if (failure != null) {
                  lost.add(failure);
                } else {
                  replies.increment();
                }
                if (ended) {
                  running.arriveAndDeregister();
                } else {
                  propose();
                }
              });
    }

    /** Returns the proposals without a reply, when all have ended. */
    Queue<Throwable> end() {
      ended = true;
      running.arriveAndAwaitAdvance();
      return lost;
    }
  }

  /** Another member may have led and sent a snapshot meanwhile, or the same one twice. */
  private void assertSnapshotCounted(TestMember away) {
    assertThat(away.installing).as("at the start, and when the state was replaced").endsWith(true);
    assertThat(away.installing.peek()).isFalse();
    TestMembers.await("the end of the installation", () -> shown(away, INSTALLING) == 0);
    assertThat(sum(away, "etcd_network_snapshot_receive_success{")).isPositive();
    assertThat(sum(away, "etcd_network_snapshot_receive_inflights_total{")).isZero();
    assertThat(shown(away, "etcd_snap_db_save_total_duration_seconds_count"))
        .isEqualTo(sum(away, "etcd_network_snapshot_receive_success{"));
    assertThat(shown(away, "etcd_snap_db_fsync_duration_seconds_count")).isPositive();
    TestMembers.await(
        "the sender's count",
        () ->
            members().all().stream()
                    .mapToDouble(
                        member ->
                            sum(
                                member,
                                "etcd_network_snapshot_send_success{To=\"" + away.id + "\"}"))
                    .sum()
                > 0);
    TestMember leader = leader();
    assertThat(shown(leader, "etcd_debugging_snap_save_total_duration_seconds_count"))
        .as("it took snapshots of its own")
        .isPositive();
    assertThat(shown(leader, "troupe_snapshot_index")).isPositive();
    assertThat(shown(leader, "etcd_debugging_snap_save_marshalling_duration_seconds_sum"))
        .isPositive();
    assertThat(shown(leader, "etcd_snap_fsync_duration_seconds_sum")).isPositive();
  }

  private static double shown(TestMember member, String sample) {
    return ShownMetrics.value(member.metrics(), sample);
  }

  private static double sum(TestMember member, String samples) {
    return ShownMetrics.of(member.metrics()).stream()
        .filter(line -> line.startsWith(samples))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static CompletableFuture<List<WatchReply>> watch(TestMember member) {
    ActorRef<WatchStreamCommand> stream =
        AskPattern.ask(
                member.refs().watch(),
                (ActorRef<ActorRef<WatchStreamCommand>> replyTo) ->
                    new WatchCommand.OpenStream(MemoryBudget.UNLIMITED.share(), replyTo::tell),
                Duration.ofSeconds(3),
                member.system().scheduler())
            .toCompletableFuture()
            .join();
    CompletableFuture<List<WatchReply>> next = new CompletableFuture<>();
    stream.tell(new WatchStreamCommand.Next(next));
    return next;
  }

  @Test
  void leadershipTransfersToTargetAndFollowersRefuse() throws Exception {
    start(1000);
    TestMember leader = leader();
    TestMember target = follower();
    put(target, new byte[10]);
    assertThat(transfer(target, target.id))
        .as("only a leader can")
        .isInstanceOf(TransferReply.Refused.class);
    assertThat(replication(target).status()).isNull();
    assertThat(replication(leader).status()).isNotNull();
    assertThat(transfer(leader, target.id)).isEqualTo(TransferReply.Done.INSTANCE);
    TestMembers.await("the new leader", target::leads);
    assertThat(transfer(target, new NodeId(99))).isInstanceOf(TransferReply.Refused.class);
    TestMembers.await(
        "a reply of the other members",
        () -> {
          ReplicationStatus status = replication(target).status();
          return status != null
              && status.peers().values().stream().allMatch(peer -> peer.connectedTicks() > 0);
        });
    TransferReply handedOver =
        AskPattern.<RaftCommand, TransferReply>ask(
                target.refs().raft(),
                replyTo -> new RaftCommand.HandOver(replyTo::tell),
                Duration.ofSeconds(5),
                target.system().scheduler())
            .toCompletableFuture()
            .join();
    assertThat(handedOver).isEqualTo(TransferReply.Done.INSTANCE);
    assertThat(target.leads()).isFalse();
  }

  private static TransferReply transfer(TestMember through, NodeId to) {
    return AskPattern.<RaftCommand, TransferReply>ask(
            through.refs().raft(),
            replyTo -> new RaftCommand.TransferLeadership(to, replyTo::tell),
            Duration.ofSeconds(5),
            through.system().scheduler())
        .toCompletableFuture()
        .join();
  }

  private static ReplicationReply replication(TestMember member) {
    return AskPattern.<RaftCommand, ReplicationReply>ask(
            member.refs().raft(),
            replyTo -> new RaftCommand.GetReplication(replyTo::tell),
            Duration.ofSeconds(5),
            member.system().scheduler())
        .toCompletableFuture()
        .join();
  }
}
