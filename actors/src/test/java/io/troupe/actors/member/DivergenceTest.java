package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.OperationCodec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three members, one of which has a damaged state (docs/decisions/0060). */
class DivergenceTest {
  private static final String KEY = "damaged";

  private final TestMembers members;

  DivergenceTest(@TempDir Path temp) throws IOException {
    this.members = TestMembers.start(temp, 3, new TestMember.Options(1_000_000, 0));
  }

  @AfterEach
  void stop() {
    members.close();
  }

  private TestMember leader() {
    return members.leader();
  }

  /** Returns the result of an operation that is repeated until it is applied. */
  private Result applied(Operation operation) throws InterruptedException {
    long end = System.nanoTime() + TestMembers.AWAIT_LIMIT.toNanos();
    while (System.nanoTime() - end < 0) {
      TestMember through = leader();
      RequestId id = through.refs().ids().next();
      try {
        ProposeReply reply =
            AskPattern.<RaftCommand, ProposeReply>ask(
                    through.refs().raft(),
                    replyTo ->
                        new RaftCommand.Propose(
                            id, OperationCodec.encode(id, operation), replyTo::tell),
                    Duration.ofSeconds(3),
                    through.system().scheduler())
                .toCompletableFuture()
                .join();
        if (reply instanceof ProposeReply.Applied applied) {
          return applied.result();
        }
      } catch (CompletionException timeout) {
        assertThat(timeout).hasRootCauseInstanceOf(java.util.concurrent.TimeoutException.class);
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    throw new AssertionError("no member applied " + operation);
  }

  private Result put(String key) throws InterruptedException {
    return TestMembers.put(leader(), key, new byte[10]);
  }

  private static boolean hasApplied(TestMember member, long index) {
    return member.refs().status().applied() >= index;
  }

  private static List<AlarmMember> alarms(TestMember member) {
    try {
      return member.refs().state().alarms();
    } catch (RefusedException closedForAMoment) {
      return List.of();
    }
  }

  /** Flips one bit of the newest record of the key. */
  private void damage(TestMember member) {
    member.close();
    try (RocksStore store =
        RocksStore.open(member.state(), new RocksSettings(8 << 20, 4 << 20, 1, 64, 0))) {
      Bytes record = store.get(Space.LATEST, Bytes.utf8(KEY));
      assertThat(record).isNotNull();
      byte[] flipped = record == null ? new byte[0] : record.toArray();
      flipped[flipped.length - 1] ^= 4;
      StoreBatch batch = new StoreBatch();
      batch.put(Space.LATEST, Bytes.utf8(KEY), Bytes.wrap(flipped));
      store.write(batch);
    }
    member.start();
  }

  @Test
  void divergentFollowerStopsServingAndRaisesAlarm() throws Exception {
    put(KEY);
    TestMember leader = leader();
    TestMember wrong = members.all().stream().filter(m -> m != leader).findFirst().orElseThrow();
    AlarmMember alarm = new AlarmMember(wrong.id, AlarmType.CORRUPT);
    long at = leader.refs().status().applied();
    TestMembers.await(
        "the put everywhere", () -> members.all().stream().allMatch(m -> hasApplied(m, at)));
    damage(wrong);
    long back = leader().refs().status().applied();
    TestMembers.await("the member's return", () -> hasApplied(wrong, back));
    for (TestMember member : members.all()) {
      assertThat(member.refs().status().isCorrupt()).as("nothing was written yet").isFalse();
    }

    put(KEY);
    TestMembers.await("the member to stop serving", () -> wrong.refs().status().isCorrupt());
    TestMembers.await(
        "the alarm", () -> members.all().stream().allMatch(m -> alarms(m).contains(alarm)));
    for (TestMember member : members.all()) {
      assertThat(alarms(member)).as("alarms on " + member.id).containsExactly(alarm);
      assertThat(member.refs().status().isCorrupt()).isEqualTo(member == wrong);
      assertThat(member.broken).isEmpty();
    }
    assertThat(put("other")).isEqualTo(new Result.Refused(Refusal.CORRUPT));

    // The alarm survives a restart, and returns if an operator disarms it too early.
    wrong.close();
    wrong.start();
    TestMembers.await("its actors", () -> alarms(wrong).contains(alarm));
    assertThat(wrong.refs().status().isCorrupt()).as("from the first read on").isTrue();
    applied(new Operation.AlarmDeactivate(wrong.id, AlarmType.CORRUPT));
    long ended = leader().refs().status().applied();
    TestMembers.await("the end of the alarm", () -> hasApplied(wrong, ended));
    TestMembers.await(
        "the alarm again", () -> members.all().stream().allMatch(m -> alarms(m).contains(alarm)));
    assertThat(wrong.refs().status().isCorrupt()).isTrue();
  }

  @Tag("full")
  @Test
  void equalStatesRaiseNoAlarm() throws Exception {
    for (int i = 0; i < 600; i++) {
      put("k" + i % 50);
      if (i % 200 == 150) {
        TestMember away = members.get(i / 200);
        away.close();
        put("while it is away");
        away.start();
      }
    }
    // The leader publishes its digest at least every 256 entries, so some of these were compared.
    long compared = leader().refs().status().applied();
    while (leader().refs().status().applied() < compared + 300) {
      put("last");
    }
    long at = leader().refs().status().applied();
    TestMembers.await(
        "all entries everywhere", () -> members.all().stream().allMatch(m -> hasApplied(m, at)));
    for (TestMember member : members.all()) {
      assertThat(alarms(member)).isEmpty();
      assertThat(member.refs().status().isCorrupt()).isFalse();
    }
  }
}
