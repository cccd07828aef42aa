package io.troupe.server;

import static io.troupe.server.FakeMember.id;
import static io.troupe.server.FakeMember.url;
import static io.troupe.server.FakeMember.view;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.testing.LoggedLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Versions of a cluster of three members; this one serves 3.7.1. */
class VersionMonitorTest {
  private static final EtcdVersion V36 = new EtcdVersion(3, 6, 0);
  private static final EtcdVersion V37 = new EtcdVersion(3, 7, 0);

  private final FakeMember fake = new FakeMember(true);
  private final Map<String, String> servers = new ConcurrentHashMap<>();
  private final List<String> reasons = new ArrayList<>();
  private final PeerQueries peers =
      (peerUrl, query, timeout) -> {
        assertThat(query).isEqualTo(PeerQuery.VersionQuery.INSTANCE);
        String version = servers.get(peerUrl);
        return version == null
            ? CompletableFuture.failedFuture(new TimeoutException("no connection to " + peerUrl))
            : CompletableFuture.completedFuture(new PeerReply.Version(EtcdVersion.parse(version)));
      };
  private VersionMonitor monitor =
      new VersionMonitor(fake.member, fake.proposer, peers, Duration.ofNanos(1), reasons::add);

  VersionMonitorTest() {
    fake.show(view(2, 1, 1));
    fake.lead(FakeMember.SELF);
    serve(2, "3.7.1");
    serve(3, "3.7.0");
  }

  private void serve(int member, String version) {
    servers.put(url(member), version);
  }

  @AfterEach
  void stop() {
    fake.close();
  }

  /** Ticks until a round begins, because the one before may not have ended; it is confirmed. */
  private void confirms() {
    RaftCommand.ConfirmLeadership confirm =
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(this::tick, Objects::nonNull);
    assertThat(confirm.term()).isEqualTo(fake.term());
    confirm.replyTo().tell(new ReadReply.Ready(9, 0));
  }

  private RaftCommand.@Nullable ConfirmLeadership tick() {
    monitor.tick();
    try {
      return fake.raft.expectMessageClass(
          RaftCommand.ConfirmLeadership.class, Duration.ofMillis(50));
    } catch (AssertionError noneYet) {
      return null;
    }
  }

  private RaftCommand.ProposeInTerm proposal(Operation operation) {
    confirms();
    RaftCommand.ProposeInTerm proposal =
        fake.raft.expectMessageClass(RaftCommand.ProposeInTerm.class);
    assertThat(proposal.term()).isEqualTo(fake.term());
    assertThat(OperationCodec.decode(proposal.proposal().operation()).operation())
        .isEqualTo(operation);
    return proposal;
  }

  private void proposes(Operation operation) {
    proposal(operation).replyTo().tell(new ProposeReply.Applied(new Result.Done(1), 9));
  }

  /** The queries and decisions of a round that began are made before another message arrives. */
  private void decidesNothing() {
    confirms();
    proposesNothing();
  }

  private void proposesNothing() {
    fake.raft.expectNoMessage(Duration.ofMillis(100));
  }

  @Test
  void leaderProposesLowestVersionOfAllMembersInItsTerm_V1() {
    serve(3, "3.6.16");
    proposes(new Operation.SetClusterVersion(null, V36));
  }

  @Test
  void followerProposesNothing_V1() {
    fake.lead(id(2));
    monitor.tick();
    proposesNothing();
  }

  @Test
  void formerLeaderProposesNothing_V1() {
    monitor.tick();
    fake.raft
        .expectMessageClass(RaftCommand.ConfirmLeadership.class)
        .replyTo()
        .tell(new ReadReply.Failed(Refusal.NOT_LEADER));
    proposesNothing();
    proposes(new Operation.SetClusterVersion(null, V37));
  }

  @Test
  void unreachableMemberBlocksDecision_V1() {
    servers.remove(url(3));
    decidesNothing();
    serve(3, "3.7.1");
    proposes(new Operation.SetClusterVersion(null, V37));
  }

  @Test
  void failedProposalIsDecidedAgain() {
    proposal(new Operation.SetClusterVersion(null, V37))
        .replyTo()
        .tell(new ProposeReply.NotProposed(Refusal.NOT_LEADER));
    proposes(new Operation.SetClusterVersion(null, V37));
  }

  /** A member that stops, or gets a snapshot, has done nothing that an operator must know. */
  @Test
  void unknownOutcomeIsDecidedAgainWithoutWarning() {
    try (LoggedLines log = new LoggedLines()) {
      proposal(new Operation.SetClusterVersion(null, V37))
          .replyTo()
          .tell(ProposeReply.Unknown.INSTANCE);
      proposes(new Operation.SetClusterVersion(null, V37));
      assertThat(log.texts()).noneMatch(line -> line.startsWith("WARN"));
      assertThat(log.with("did not update cluster version, this member no longer leads"))
          .hasSize(1);
    }
  }

  @Test
  void oneRoundRunsAtATime() {
    RaftCommand.ProposeInTerm first = proposal(new Operation.SetClusterVersion(null, V37));
    monitor.tick();
    proposesNothing();
    first.replyTo().tell(new ProposeReply.Applied(new Result.Done(1), 9));
    proposes(new Operation.SetClusterVersion(null, V37));
  }

  @Test
  void downgradeEndsByItself_MT12() {
    fake.versions(new ClusterVersions(V36, V36, V36));
    Member replaced =
        new Member(
            fake,
            fake,
            fake.member.raftActor(),
            fake.member.leaseActor(),
            fake.member.watchHub(),
            fake.member.reads(),
            fake.member.scheduler(),
            new PendingReplies(fake.member.scheduler()),
            fake.member.metrics(),
            fake.member.clientMemory(),
            EtcdVersion.parse("3.6.16"));
    serve(2, "3.6.16");
    serve(3, "3.6.0");
    monitor = new VersionMonitor(replaced, fake.proposer, peers, Duration.ofNanos(1), reasons::add);
    proposes(new Operation.CancelDowngrade(V36));
  }

  @Test
  void memberOlderThanClusterStopsOnce_V2() {
    fake.lead(id(2));
    fake.versions(new ClusterVersions(new EtcdVersion(3, 8, 0), V37, null));
    monitor.tick();
    monitor.tick();
    assertThat(reasons).hasSize(1);
    assertThat(reasons.get(0)).contains("serves 3.7.1", "cluster has version 3.8");
  }
}
