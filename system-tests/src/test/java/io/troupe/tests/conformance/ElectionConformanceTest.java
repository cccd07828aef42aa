package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.NamesApi.campaign;
import static io.troupe.tests.conformance.NamesApi.leader;
import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.prefix;
import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.netty.NettyChannelBuilder;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.election.CampaignResponse;
import io.troupe.grpc.api.election.LeaderKey;
import io.troupe.grpc.api.election.LeaderResponse;
import io.troupe.grpc.api.election.ProclaimRequest;
import io.troupe.grpc.api.election.ProclaimResponse;
import io.troupe.grpc.api.election.ResignRequest;
import io.troupe.grpc.api.mvcc.KeyValue;
import io.troupe.tests.conformance.NamesApi.Pending;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.17: elections between clients. */
class ElectionConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final ApiClient client = STORE.client();
  private String name = "";

  @BeforeEach
  void ownName() {
    name = STORE.key("election");
  }

  private long lease() {
    return client.grant(60).getID();
  }

  private CampaignResponse win(long lease, String value) {
    return client.call(NamesApi.CAMPAIGN, campaign(name, lease, value));
  }

  /** A candidate that waits for older candidates; returns when its key exists. */
  private Pending<CampaignResponse> waits(long lease, String value) {
    Pending<CampaignResponse> pending =
        Pending.start(client, NamesApi.CAMPAIGN, campaign(name, lease, value));
    ServedStore.await().until(() -> client.get(key(lease)).getCount() == 1);
    return pending;
  }

  private String key(long lease) {
    return name + "/" + Long.toHexString(lease);
  }

  private List<KeyValue> candidates() {
    return client.range(prefix(name + "/")).getKvsList();
  }

  private void resign(LeaderKey leader) {
    client.call(NamesApi.RESIGN, ResignRequest.newBuilder().setLeader(leader).build());
  }

  private ProclaimResponse proclaim(LeaderKey leader, String value) {
    return client.call(
        NamesApi.PROCLAIM,
        ProclaimRequest.newBuilder().setLeader(leader).setValue(bytes(value)).build());
  }

  @Test
  void firstCandidateLeads_E1() {
    long lease = lease();
    CampaignResponse won = win(lease, "me");

    KeyValue record = client.record(key(lease));
    assertThat(record.getValue()).isEqualTo(bytes("me"));
    assertThat(record.getLease()).isEqualTo(lease);
    assertThat(won.getLeader())
        .isEqualTo(
            LeaderKey.newBuilder()
                .setName(bytes(name))
                .setKey(bytes(key(lease)))
                .setRev(record.getCreateRevision())
                .setLease(lease)
                .build());
    assertThat(won.getHeader().getRevision()).isEqualTo(record.getCreateRevision());
    assertThat(won.getHeader().getMemberId()).isNotZero();
  }

  @Test
  void negativeLeaseKeepsSignInKey_E1() {
    client.call(Api.GRANT, LeaseGrantRequest.newBuilder().setID(-255).setTTL(60).build());
    assertThat(win(-255, "me").getLeader().getKey()).isEqualTo(bytes(name + "/-ff"));
    client.revoke(-255);
  }

  @Test
  void candidateWaitsForOlderCandidatesAndReturnsInitialHeader_E1() {
    CampaignResponse first = win(lease(), "first");
    long two = lease();
    Pending<CampaignResponse> second = waits(two, "second");
    Pending<CampaignResponse> third = waits(lease(), "third");
    client.put(STORE.key("other"), "1");
    assertThat(second.answers.poll()).isEmpty();

    // The second candidate leaves, but not the first.
    client.delete(delete(key(two)));
    client.put(STORE.key("other"), "2");
    assertThat(second.answers.poll()).isEmpty();
    assertThat(third.answers.poll()).isEmpty();

    resign(first.getLeader());
    CampaignResponse won = third.answers.next();
    assertThat(won.getHeader().getRevision()).isEqualTo(won.getLeader().getRev());
    // Quirk: the second candidate does not check whether its own key still exists.
    assertThat(second.answers.next().getLeader().getKey()).isEqualTo(bytes(key(two)));
    assertThat(client.get(key(two)).getCount()).isZero();
  }

  @Test
  void repeatedCampaignWithSameLeaseProclaimsNewValue_E1() {
    long lease = lease();
    CampaignResponse won = win(lease, "one");
    CampaignResponse again = win(lease, "two");
    assertThat(again.getLeader()).isEqualTo(won.getLeader());
    KeyValue record = client.record(key(lease));
    assertThat(record.getValue()).isEqualTo(bytes("two"));
    assertThat(record.getVersion()).isEqualTo(2);
    assertThat(again.getHeader().getRevision()).isEqualTo(won.getHeader().getRevision());
    win(lease, "two");
    assertThat(client.record(key(lease)).getVersion()).isEqualTo(2);
  }

  @Test
  void leaseExpiryMovesLeadership_E1() {
    long one = lease();
    win(one, "first");
    Pending<CampaignResponse> second = waits(lease(), "second");
    client.revoke(one);
    assertThat(second.answers.next().getLeader().getName()).isEqualTo(bytes(name));
    assertThat(client.call(NamesApi.LEADER, leader(name)).getKv().getValue())
        .isEqualTo(bytes("second"));
  }

  @Test
  void missingLeaseIsCreatedWithOneMinute_E2() {
    LeaderKey won = win(0, "me").getLeader();
    assertThat(won.getLease()).isNotZero();
    assertThat(won.getKey()).isEqualTo(bytes(key(won.getLease())));
    assertThat(
            client
                .call(
                    Api.TIME_TO_LIVE,
                    LeaseTimeToLiveRequest.newBuilder().setID(won.getLease()).build())
                .getGrantedTTL())
        .isEqualTo(60);
  }

  @Test
  void cancelledCampaignWithdrawsCandidate_E3() {
    CampaignResponse first = win(lease(), "first");
    long two = lease();
    Pending<CampaignResponse> second = waits(two, "second");
    second.cancel();
    assertThat(second.answers.end().getCode()).isEqualTo(Code.CANCELLED);
    ServedStore.await().until(() -> client.get(key(two)).getCount() == 0);
    assertThat(candidates()).hasSize(1);
    assertThat(client.call(NamesApi.LEADER, leader(name)).getKv().getCreateRevision())
        .isEqualTo(first.getLeader().getRev());
  }

  @Test
  void deadlineAndLostConnectionWithdrawCandidate_E3() {
    win(lease(), "first");
    long two = lease();
    Pending<CampaignResponse> second =
        Pending.start(
            client.channel(),
            NamesApi.CAMPAIGN,
            campaign(name, two, "second"),
            CallOptions.DEFAULT.withDeadlineAfter(500, TimeUnit.MILLISECONDS));
    assertThat(second.answers.end().getCode()).isEqualTo(Code.DEADLINE_EXCEEDED);
    ServedStore.await().until(() -> candidates().size() == 1);

    long three = lease();
    ManagedChannel other = NettyChannelBuilder.forTarget(STORE.target()).usePlaintext().build();
    Pending.start(other, NamesApi.CAMPAIGN, campaign(name, three, "third"), CallOptions.DEFAULT);
    ServedStore.await().until(() -> client.get(key(three)).getCount() == 1);
    other.shutdownNow();
    ServedStore.await().until(() -> client.get(key(three)).getCount() == 0);
  }

  @Test
  void proclaimNeedsLeaderKey_E4() {
    long lease = lease();
    LeaderKey won = win(lease, "one").getLeader();
    long revision = proclaim(won, "two").getHeader().getRevision();
    KeyValue record = client.record(key(lease));
    assertThat(record.getValue()).isEqualTo(bytes("two"));
    assertThat(record.getModRevision()).isEqualTo(revision);
    assertThat(record.getLease()).isEqualTo(lease);

    LeaderKey stale = won.toBuilder().setRev(won.getRev() - 1).build();
    client.refused(
        NamesApi.PROCLAIM,
        ProclaimRequest.newBuilder().setLeader(stale).setValue(bytes("x")).build(),
        Code.UNKNOWN,
        "election: not leader");
    client.refused(
        NamesApi.PROCLAIM,
        ProclaimRequest.newBuilder().setValue(bytes("x")).build(),
        Code.UNKNOWN,
        "\"leader\" field must be provided");
  }

  @Test
  void campaignWithoutLeaseCreatesLease_E4() {
    long lease = lease();
    LeaderKey won = win(lease, "one").getLeader();
    proclaim(won.toBuilder().clearLease().build(), "two");
    assertThat(client.record(key(lease)).getLease()).isNotZero().isNotEqualTo(lease);
  }

  @Test
  void leaderIsOldestCandidate_E5() {
    client.refused(NamesApi.LEADER, leader(name), Code.UNKNOWN, "election: no leader");
    CampaignResponse won = win(lease(), "one");
    waits(lease(), "two").cancel();
    proclaim(won.getLeader(), "changed");
    LeaderResponse now = client.call(NamesApi.LEADER, leader(name));
    assertThat(now.getKv().getValue()).isEqualTo(bytes("changed"));
    assertThat(now.getKv().getCreateRevision()).isEqualTo(won.getLeader().getRev());
    assertThat(now.getHeader().getRevision()).isGreaterThan(won.getLeader().getRev());
  }

  /** The pending reads of these observers must not repeat forever. */
  @Test
  void observersThatLeaveImmediatelyLeaveNothing_E6() {
    Http1 http = new Http1(STORE.target());
    for (int i = 0; i < 60; i++) {
      try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
        for (int j = 0; j < 100; j++) {
          int stream = connection.call("v3electionpb.Election/Observe", Map.of());
          connection.message(stream, leader(name).toByteArray(), false);
        }
      }
    }
    double[] last = {-1};
    ServedStore.await()
        .pollInterval(Duration.ofMillis(300))
        .until(
            () -> {
              double before = last[0];
              last[0] = MetricsText.of(http.get("/metrics").body()).value("etcd_mvcc_range_total");
              return last[0] == before;
            });
  }

  @Test
  void observeReturnsLeadersAndValues_E6() {
    Pending<LeaderResponse> observed = Pending.start(client, NamesApi.OBSERVE, leader(name));
    long one = lease();
    CampaignResponse first = win(one, "one");
    LeaderResponse told = observed.answers.next();
    assertThat(told.getKv().getValue()).isEqualTo(bytes("one"));

    long changed = proclaim(first.getLeader(), "two").getHeader().getRevision();
    told = observed.answers.next();
    assertThat(told.getKv().getValue()).isEqualTo(bytes("two"));
    assertThat(told.getKv().getModRevision()).isEqualTo(changed);
    assertThat(told.getHeader().getRevision()).isEqualTo(changed);

    Pending<CampaignResponse> second = waits(lease(), "three");
    client.revoke(one);
    second.answers.next();
    assertThat(observed.answers.next().getKv().getValue()).isEqualTo(bytes("three"));
    assertThat(observed.answers.poll()).isEmpty();
    observed.cancel();
    assertThat(observed.answers.end().getCode()).isEqualTo(Code.CANCELLED);
  }

  @Test
  void observerOfFirstLeaderGetsItsRevision_E6() {
    Pending<LeaderResponse> observed = Pending.start(client, NamesApi.OBSERVE, leader(name));
    Pending<LeaderResponse> other = Pending.start(client, NamesApi.OBSERVE, leader(name));
    client.put(STORE.key("other"), "1");
    CampaignResponse won = win(lease(), "one");
    for (Pending<LeaderResponse> each : List.of(observed, other)) {
      LeaderResponse told = each.answers.next();
      assertThat(told.getHeader().getRevision()).isEqualTo(won.getLeader().getRev());
      assertThat(told.getKv().getKey()).isEqualTo(won.getLeader().getKey());
      each.cancel();
    }
  }

  @Test
  void resignEndsLeadershipOnce_E7() {
    CampaignResponse won = win(lease(), "one");
    long before = client.revision();
    LeaderKey stale = won.getLeader().toBuilder().setRev(won.getLeader().getRev() - 1).build();
    resign(stale);
    assertThat(client.revision()).isEqualTo(before);
    assertThat(
            client
                .call(
                    NamesApi.RESIGN, ResignRequest.newBuilder().setLeader(won.getLeader()).build())
                .getHeader()
                .getRevision())
        .isEqualTo(before + 1);
    assertThat(candidates()).isEmpty();
    client.refused(
        NamesApi.RESIGN,
        ResignRequest.getDefaultInstance(),
        Code.UNKNOWN,
        "\"leader\" field must be provided");
  }

  @Test
  void keyErrorsHaveStatusUnknown_E8() {
    client.refused(
        NamesApi.CAMPAIGN,
        campaign(name, 4711, "x"),
        Code.UNKNOWN,
        "etcdserver: requested lease not found");
    assertThat(candidates()).isEmpty();
  }

  @Test
  void candidatesLeadInKeyOrder() {
    LeaderKey leading = win(lease(), "0").getLeader();
    List<Pending<CampaignResponse>> others =
        java.util.stream.IntStream.rangeClosed(1, 30)
            .mapToObj(i -> waits(lease(), "" + i))
            .toList();
    client.put(put(STORE.key("noise"), "1"));
    for (Pending<CampaignResponse> next : others) {
      resign(leading);
      LeaderKey won = next.answers.next().getLeader();
      assertThat(won.getRev()).isGreaterThan(leading.getRev());
      assertThat(next.answers.end()).isEqualTo(Status.OK);
      leading = won;
    }
    assertThat(candidates()).hasSize(1);
  }
}
