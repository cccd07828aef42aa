package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.StateReader.KvHash;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.testing.LoggedLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Periodic tasks of a member: compaction on the leader (AC3), comparisons (Q5). */
class MaintenanceTasksTest {
  private final FakeMember fake = new FakeMember(true);
  private final Map<String, PeerReply> answers = new TreeMap<>();
  private final List<PeerQuery> asked = new ArrayList<>();
  private final PeerQueries peers =
      (url, query, timeout) -> {
        asked.add(query);
        PeerReply answer = answers.get(url);
        return answer == null
            ? CompletableFuture.failedFuture(new TimeoutException("no connection to " + url))
            : CompletableFuture.completedFuture(answer);
      };
  private final ReadIndexBatcher reads =
      new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, Duration.ofMillis(10));
  private final CorruptionCheck check =
      new CorruptionCheck(fake.member, reads, fake.proposer, peers);

  @AfterEach
  void close() {
    fake.close();
  }

  private static KvHash hash(int hash, long compacted, long revision, long current) {
    return new KvHash(hash, compacted, revision, current);
  }

  private void replies(int member, @Nullable KvHash hash) {
    answers.put(
        FakeMember.url(member),
        hash == null ? new PeerReply.Refused(Refusal.FUTURE_REVISION) : new PeerReply.Hashed(hash));
  }

  private Operation proposed(Result result) {
    RaftCommand.Propose proposal = fake.raft.expectMessageClass(RaftCommand.Propose.class);
    proposal.replyTo().tell(new ProposeReply.Applied(result, 1));
    return OperationCodec.decode(proposal.proposal().operation()).operation();
  }

  private Operation raised() {
    return proposed(new Result.Alarms(1, List.of()));
  }

  private static Operation corrupt(NodeId member) {
    return new Operation.AlarmActivate(member, AlarmType.CORRUPT);
  }

  private void releaseRead() {
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Ready(100, 0));
  }

  private static void ends(CompletableFuture<Void> run) {
    assertThat(run).succeedsWithin(Duration.ofSeconds(10));
  }

  /** After a restart, clients can still read the history for five minutes. */
  @Test
  void startDoesNotCompact_AC2() {
    fake.revision(30);
    fake.lead(FakeMember.SELF);
    new AutoCompactor(fake.member, fake.proposer, new AutoCompaction.ByRevision(10), () -> 0)
        .start();
    fake.raft.expectNoMessage(Duration.ofMillis(300));
  }

  @Test
  void leaderCompactsAndFollowerDoesNot_AC3() {
    AtomicLong now = new AtomicLong();
    AutoCompactor compactor =
        new AutoCompactor(fake.member, fake.proposer, new AutoCompaction.ByRevision(10), now::get);
    fake.revision(30);
    fake.lead(FakeMember.id(2));
    compactor.check();
    fake.raft.expectNoMessage(Duration.ZERO);

    fake.lead(FakeMember.SELF);
    compactor.check();
    RaftCommand.Propose first = fake.raft.expectMessageClass(RaftCommand.Propose.class);
    // While one compaction runs, no second one starts.
    compactor.check();
    fake.raft.expectNoMessage(Duration.ZERO);
    first.replyTo().tell(new ProposeReply.NotProposed(Refusal.TOO_MANY_REQUESTS));

    // A failed compaction is repeated. A compaction by another client counts as success.
    Awaitility.await()
        .untilAsserted(
            () -> {
              compactor.check();
              RaftCommand.Propose second =
                  fake.raft.expectMessageClass(RaftCommand.Propose.class, Duration.ofMillis(50));
              assertThat(OperationCodec.decode(second.proposal().operation()).operation())
                  .isEqualTo(new Operation.Compact(20));
              second
                  .replyTo()
                  .tell(new ProposeReply.Applied(new Result.Refused(Refusal.COMPACTED), 1));
            });
    fake.revision(31);
    Awaitility.await()
        .untilAsserted(
            () -> {
              compactor.check();
              RaftCommand.Propose next =
                  fake.raft.expectMessageClass(RaftCommand.Propose.class, Duration.ofMillis(50));
              assertThat(OperationCodec.decode(next.proposal().operation()).operation())
                  .isEqualTo(new Operation.Compact(21));
            });
  }

  @Test
  void periodicCheckAccusesFirstDifferingMember_Q5() {
    fake.show(FakeMember.view(3, 0, 1));
    fake.hash(hash(5, 3, 10, 10), List.of());
    replies(2, hash(5, 3, 10, 10));
    replies(3, hash(6, 3, 10, 10));
    CompletableFuture<Void> run = check.periodic().toCompletableFuture();
    releaseRead();
    assertThat(raised()).isEqualTo(corrupt(FakeMember.id(3)));
    ends(run);
    assertThat(asked).containsOnly(new PeerQuery.HashQuery(10, true));
  }

  @Test
  void periodicCheckAcceptsEqualAndSilentMembers_Q5() {
    fake.show(FakeMember.view(4, 0, 1));
    fake.hash(hash(5, 3, 10, 10), List.of());
    replies(2, hash(5, 3, 10, 10));
    replies(3, null);
    CompletableFuture<Void> run = check.periodic().toCompletableFuture();
    releaseRead();
    ends(run);
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void onlyLeaderChecks_Q5() {
    fake.show(FakeMember.view(3, 0, 1));
    fake.lead(FakeMember.id(2));
    ends(check.periodic().toCompletableFuture());
    ends(check.compactions().toCompletableFuture());
    assertThat(asked).isEmpty();
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void compactionHashesAreComparedNewestFirstAndOnceIfEqual_Q5() {
    fake.show(FakeMember.view(3, 0, 1));
    fake.hash(hash(0, 0, 0, 0), List.of(hash(8, 10, 20, 30), hash(7, 2, 10, 30)));
    replies(2, hash(8, 10, 20, 30));
    replies(3, hash(8, 10, 20, 30));
    ends(check.compactions().toCompletableFuture());
    assertThat(asked).hasSize(2).containsOnly(new PeerQuery.HashQuery(20, false));
    ends(check.compactions().toCompletableFuture());
    assertThat(asked).hasSize(2);
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void differingCompactionHashIsCheckedAgain_Q5() {
    fake.show(FakeMember.view(3, 0, 1));
    fake.hash(hash(0, 0, 0, 0), List.of(hash(8, 10, 20, 30), hash(7, 2, 10, 30)));
    replies(2, hash(8, 10, 20, 30));
    replies(3, hash(9, 10, 20, 30));
    for (int run = 0; run < 2; run++) {
      CompletableFuture<Void> check = this.check.compactions().toCompletableFuture();
      assertThat(raised()).isEqualTo(corrupt(FakeMember.id(3)));
      ends(check);
    }
    assertThat(asked).hasSize(4).containsOnly(new PeerQuery.HashQuery(20, false));
  }

  /** A hash under a later compaction of a member is not a difference. */
  @Test
  void memberWithoutCompactionHashIsUnknownNotDifferent_Q5() {
    fake.show(FakeMember.view(3, 0, 1));
    fake.hash(hash(0, 0, 0, 0), List.of(hash(8, 10, 20, 30)));
    replies(2, hash(8, 10, 20, 30));
    replies(3, hash(9, 20, 20, 30));
    ends(check.compactions().toCompletableFuture());
    fake.raft.expectNoMessage(Duration.ZERO);
    assertThat(asked).hasSize(2);
    ends(check.compactions().toCompletableFuture());
    assertThat(asked).as("checked again").hasSize(4);
  }

  @Test
  void olderCompactionIsComparedIfNewestIsNotKnownToAll_Q5() {
    fake.show(FakeMember.view(2, 0, 1));
    fake.hash(hash(0, 0, 0, 0), List.of(hash(8, 20, 20, 30), hash(7, 10, 10, 30)));
    replies(2, null);
    ends(check.compactions().toCompletableFuture());
    assertThat(asked)
        .containsExactly(new PeerQuery.HashQuery(20, false), new PeerQuery.HashQuery(10, false));
  }

  @Test
  void initialCheckReturnsDifferingMembers_Q5() {
    fake.show(FakeMember.view(4, 0, 1));
    fake.hash(hash(5, 3, 10, 10), List.of());
    replies(2, hash(6, 3, 10, 10));
    replies(3, hash(6, 4, 10, 10));
    assertThat(check.initial(Duration.ofSeconds(1)).toCompletableFuture())
        .succeedsWithin(Duration.ofSeconds(10))
        .isEqualTo(List.of(FakeMember.id(2)));
  }

  /** All members of a cluster start at the same time. */
  @Test
  void startingMemberIsNotLoggedAsFailedRequest() {
    fake.hash(hash(5, 3, 10, 10), List.of());
    fake.show(FakeMember.view(3, 0, 1));
    answers.put(FakeMember.url(2), new PeerReply.Refused(Refusal.NO_LEADER));
    answers.put(FakeMember.url(3), new PeerReply.Refused(Refusal.COMPACTED));
    try (LoggedLines log = new LoggedLines(CorruptionCheck.class, Level.INFO)) {
      assertThat(check.initial(Duration.ofSeconds(1)).toCompletableFuture())
          .succeedsWithin(Duration.ofSeconds(10))
          .isEqualTo(List.of());
      assertThat(log.with("failed hash kv request"))
          .singleElement()
          .asString()
          .contains("COMPACTED");
    }
  }
}
