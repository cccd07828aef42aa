package io.troupe.actors.raft;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.member.ShownMetrics;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftState;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.membership.Membership;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A leader of three members, whose disk and followers sendReply immediately, and whose thread is
 * blocked.
 */
class LateHeartbeatsTest {
  private static final String LATE = "etcd_server_heartbeat_send_failures_total";
  private static final NodeId SELF = new NodeId(1);
  private static final Membership THREE = Membership.ofVoters(SELF, new NodeId(2), new NodeId(3));
  private static final Duration TICK = Duration.ofMillis(20);

  private final ActorTestKit kit = ActorTestKit.create();
  private final MemberMetrics metrics = new MemberMetrics();
  private final AtomicBoolean hold = new AtomicBoolean();
  private final CountDownLatch leads = new CountDownLatch(1);
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch release = new CountDownLatch(1);
  private volatile @Nullable ActorRef<RaftCommand> actor;

  @AfterEach
  void stop() {
    release.countDown();
    kit.shutdownTestKit();
  }

  private void tell(RaftCommand command) {
    ActorRef<RaftCommand> started = actor;
    if (started != null) {
      started.tell(command);
    }
  }

  /** Replies as a follower with the same log does. */
  private void sendReply(NodeId from, PeerMessage message) {
    if (message instanceof PeerMessage.RequestVote ask) {
      tell(
          new RaftCommand.FromPeer(
              from, new PeerMessage.VoteReply(ask.term(), ask.preVote(), true)));
    } else if (message instanceof PeerMessage.Append append) {
      long last = append.prevIndex() + append.entries().size();
      tell(
          new RaftCommand.FromPeer(
              from, new PeerMessage.AppendReply(append.term(), false, last, 0, 0)));
    } else if (message instanceof PeerMessage.Heartbeat beat) {
      tell(
          new RaftCommand.FromPeer(
              from, new PeerMessage.HeartbeatReply(beat.term(), beat.readContext())));
    }
  }

  /**
   * Blocks before the actor reports that it leads: this call comes before the times of the
   * leadership's heartbeats are measured, and a thread blocked there would find its first
   * heartbeats timely.
   */
  private void status(RaftStatus status) {
    if (hold.getAndSet(false)) {
      held.countDown();
      try {
        assertThat(release.await(20, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    if (status.role() == RaftRole.LEADER) {
      leads.countDown();
    }
  }

  private void start() {
    TestProbe<ApplyCommand> apply = kit.createTestProbe();
    TestProbe<SnapshotCommand> snapshot = kit.createTestProbe();
    ActorRef<WalCommand> disk =
        kit.spawn(
            Behaviors.<WalCommand>receiveMessage(
                command -> {
                  if (command instanceof WalCommand.Append append) {
                    tell(new RaftCommand.Durable(append.number()));
                    append
                        .messagesAfterPersist()
                        .forEach(next -> sendReply(next.to(), next.message()));
                  }
                  return Behaviors.same();
                }));
    RaftState recovered =
        new RaftState(SELF, new HardState(5, NodeId.NONE, 0), THREE, 0, 0, List.of(), 0);
    ActorRef<RaftCommand> made =
        kit.spawn(
            RaftRoleActor.create(
                recovered, RaftSettings.defaults(), TICK, new SplittableRandom(1)));
    actor = made;
    made.tell(
        new RaftRoleActor.Begin(
            new RaftRoleActor.Links(
                disk,
                apply.getRef(),
                snapshot.getRef(),
                this::sendReply,
                this::status,
                membership -> {},
                () -> {},
                ForwardedTraces.NONE,
                metrics.raft())));
  }

  @Test
  void blockedLeaderSendsLateHeartbeatsToEachFollower() throws Exception {
    start();
    assertThat(leads.await(20, TimeUnit.SECONDS)).as("it leads").isTrue();
    hold.set(true);
    assertThat(held.await(20, TimeUnit.SECONDS)).isTrue();
    double before = ShownMetrics.value(metrics, LATE);
    long since = System.nanoTime();
    long interval = RaftSettings.defaults().heartbeatTicks() * TICK.toNanos();
    // The leader needs real time to be late.
    Awaitility.await().pollInterval(TICK).until(() -> System.nanoTime() - since > 3 * interval);
    release.countDown();
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> ShownMetrics.value(metrics, LATE) >= before + 2);
  }
}
