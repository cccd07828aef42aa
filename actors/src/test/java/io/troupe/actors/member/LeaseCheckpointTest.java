package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Lease;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.codec.OperationCodec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** L11, L12 with three members; the leader replicates the remaining times every second. */
class LeaseCheckpointTest {
  private static final long ID = 7;
  private static final long TTL = 600;

  private final Path temp;
  private @Nullable TestMembers members;

  LeaseCheckpointTest(@TempDir Path temp) {
    this.temp = temp;
  }

  @BeforeEach
  void grant() throws IOException {
    members = TestMembers.start(temp, 3, new TestMember.Options(1000, 0));
    TestMember leader = members().leader();
    RequestId request = leader.refs().ids().next();
    ProposeReply reply =
        AskPattern.<RaftCommand, ProposeReply>ask(
                leader.refs().raft(),
                replyTo ->
                    new RaftCommand.Propose(
                        request,
                        OperationCodec.encode(request, new Operation.LeaseGrant(ID, TTL)),
                        replyTo::tell),
                TestMembers.AWAIT_LIMIT,
                leader.system().scheduler())
            .toCompletableFuture()
            .join();
    assertThat(reply).isInstanceOf(ProposeReply.Applied.class);
  }

  private TestMembers members() {
    return Objects.requireNonNull(members, "not started");
  }

  @AfterEach
  void stop() {
    members().close();
  }

  private static LeaseReply ask(
      TestMember member, Function<ActorRef<LeaseReply>, LeaseCommand> question) {
    return AskPattern.<LeaseCommand, LeaseReply>ask(
            member.refs().lease(),
            question::apply,
            Duration.ofSeconds(10),
            member.system().scheduler())
        .toCompletableFuture()
        .join();
  }

  private static long checkpoint(TestMember member) {
    List<Lease> leases = member.leases();
    return leases.isEmpty() ? TTL : leases.get(0).checkpointSeconds();
  }

  /** Returns the remaining time that the next leader reports. */
  private long remaining() {
    LeaseReply reply =
        Awaitility.await("the countdown of a leader")
            .atMost(TestMembers.AWAIT_LIMIT)
            .until(
                () ->
                    ask(
                        members().leader(),
                        replyTo -> new LeaseCommand.TimeToLive(ID, replyTo::tell)),
                LeaseReply.Remaining.class::isInstance);
    return ((LeaseReply.Remaining) reply).remainingSeconds();
  }

  private void awaitCheckpointsBelow(long seconds) {
    for (TestMember member : members().all()) {
      TestMembers.await(
          "the checkpoint of the lease at " + member.id,
          () -> checkpoint(member) > 0 && checkpoint(member) < seconds);
    }
  }

  @Test
  void nextLeaderCountsFromCheckpoint_L11() {
    awaitCheckpointsBelow(TTL - 2);
    TestMember first = members().leader();
    long left = checkpoint(first);
    first.close();
    // The election timeout is half a second, and whole seconds are reported.
    assertThat(remaining()).isBetween(1L, left);
  }

  /** L4: an owner with an acknowledged renewal has its full time under any next leader. */
  @Tag("full")
  @Test
  void renewedLeaseHasFullTimeAtNextLeader_L12() {
    awaitCheckpointsBelow(TTL - 8);
    TestMember first = members().leader();
    long before = System.nanoTime();
    LeaseReply renewed = ask(first, replyTo -> new LeaseCommand.KeepAlive(ID, replyTo::tell));
    assertThat(renewed).isEqualTo(new LeaseReply.Renewed(ID, TTL));
    first.close();
    long left = remaining();
    long elapsed = Duration.ofNanos(System.nanoTime() - before).toSeconds() + 1;
    assertThat(left).isGreaterThanOrEqualTo(TTL - elapsed);
  }
}
