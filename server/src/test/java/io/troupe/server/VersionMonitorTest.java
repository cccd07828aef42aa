package io.troupe.server;

import static io.troupe.server.FakeMember.id;
import static io.troupe.server.FakeMember.url;
import static io.troupe.server.FakeMember.view;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.codec.OperationCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
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
  private final VersionMonitor monitor = monitor(Duration.ofNanos(1));

  VersionMonitorTest() {
    fake.show(view(2, 1, 1));
    fake.lead(FakeMember.SELF);
    serve(2, "3.7.1");
    serve(3, "3.7.0");
  }

  private VersionMonitor monitor(Duration downgradeCheckTime) {
    return new VersionMonitor(fake.member, fake.proposer, peers, downgradeCheckTime, reasons::add);
  }

  private void serve(int member, String version) {
    servers.put(url(member), version);
  }

  @AfterEach
  void stop() {
    fake.close();
  }

  private void proposes(Operation operation) {
    RaftCommand.Propose proposal = fake.raft.expectMessageClass(RaftCommand.Propose.class);
    assertThat(OperationCodec.decode(proposal.proposal().operation()).operation())
        .isEqualTo(operation);
    proposal.replyTo().tell(new ProposeReply.Applied(new Result.Done(1), 9));
  }

  private void proposesNothing() {
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void leaderProposesLowestVersionOfAllMembers_V1() {
    serve(3, "3.6.16");
    monitor.tick();
    proposes(new Operation.SetClusterVersion(null, V36));
  }

  @Test
  void followerProposesNothing_V1() {
    fake.lead(id(2));
    monitor.tick();
    proposesNothing();
  }

  @Test
  void unreachableMemberBlocksDecision_V1() {
    servers.remove(url(3));
    monitor.tick();
    proposesNothing();
    serve(3, "3.7.1");
    monitor.tick();
    proposes(new Operation.SetClusterVersion(null, V37));
  }

  @Test
  void oneRoundOfQueriesRunsAtATime() {
    monitor.tick();
    RaftCommand.Propose first = fake.raft.expectMessageClass(RaftCommand.Propose.class);
    monitor.tick();
    proposesNothing();
    first.replyTo().tell(new ProposeReply.Applied(new Result.Done(1), 9));
    fake.versions(new ClusterVersions(V37, V37, null));
    monitor.tick();
    proposesNothing();
  }

  @Test
  void decidedVersionIsCheckedAgainAfterInterval_V1() {
    fake.versions(new ClusterVersions(V36, V36, null));
    monitor.tick();
    proposes(new Operation.SetClusterVersion(V36, V37));
    // The next round is due in 4 s.
    monitor.tick();
    proposesNothing();
  }

  @Test
  void downgradeLowersVersionAndEndsByItself_MT12() {
    fake.versions(new ClusterVersions(V37, V37, V36));
    monitor.tick();
    proposes(new Operation.SetClusterVersion(V37, V36));
    fake.versions(new ClusterVersions(V36, V36, V36));
    monitor.tick();
    proposesNothing();
    VersionMonitor replaced =
        new VersionMonitor(
            new Member(
                fake,
                fake,
                fake.member.raftActor(),
                fake.member.leaseActor(),
                fake.member.watchHub(),
                fake.member.reads(),
                fake.member.scheduler(),
                fake.member.metrics(),
                fake.member.clientMemory(),
                EtcdVersion.parse("3.6.16")),
            fake.proposer,
            peers,
            Duration.ofNanos(1),
            reasons::add);
    serve(2, "3.6.16");
    replaced.tick();
    proposesNothing();
    serve(3, "3.6.0");
    replaced.tick();
    proposes(new Operation.CancelDowngrade(V36));
  }

  @Test
  void downgradeWithoutCheckTimeDoesNotEnd_MT12() {
    fake.versions(new ClusterVersions(V37, V37, V37));
    monitor(Duration.ZERO).tick();
    proposesNothing();
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
