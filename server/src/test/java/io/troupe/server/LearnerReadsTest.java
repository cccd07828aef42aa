package io.troupe.server;

import static io.troupe.server.FakeMember.view;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RefusedException;
import io.troupe.raft.membership.Membership;
import io.troupe.server.auth.Tokens;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** LN1: a learner serves only serializable ranges. */
class LearnerReadsTest {
  private static final NodeId VOTER = FakeMember.id(2);

  private final FakeMember fake = new FakeMember(true);
  private final ReadIndexBatcher reads =
      new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
  private final KvService kv =
      new KvService(
          fake.member,
          fake.settings,
          fake.proposer,
          reads,
          new Quota(fake.member, fake.proposer, 0, () -> true),
          new CallerResolver(
              fake.member, reads, Tokens.of("", Duration.ofSeconds(1), 1000, Clock.systemUTC())));
  private final Call call = FakeMember.call();

  @AfterEach
  void stop() {
    fake.close();
  }

  private static Bytes range(boolean serializable) {
    return Bytes.wrap(
        RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("k"))
            .setSerializable(serializable)
            .build()
            .toByteArray());
  }

  private void learn() {
    ClusterView before = view(2, 0, 1);
    fake.show(
        new ClusterView(
            new Membership(Set.of(VOTER), Set.of(FakeMember.SELF)),
            before.peerUrls(),
            before.published()));
  }

  @Test
  void learnerRefusesLinearizableRanges() {
    learn();
    assertThat(fake.member.isLearner()).isTrue();
    assertThatThrownBy(() -> kv.range(range(false), call))
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.reason()).isEqualTo(Refusal.LEARNER));
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  /** The fake state has no keys, so the failure shows that it was read. */
  @Test
  void learnerReadsItsOwnState() throws Exception {
    learn();
    assertThat(kv.range(range(true), call))
        .failsWithin(Duration.ofSeconds(60))
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void voterServesBoth() throws Exception {
    assertThat(kv.range(range(false), call)).isNotNull();
    fake.raft.expectMessageClass(RaftCommand.ReadIndex.class);
  }
}
