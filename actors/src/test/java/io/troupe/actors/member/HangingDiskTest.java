package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.metrics.WalProgress;
import io.troupe.protocol.ProposeReply;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A leader with a hanging log steps down and serves no client. When its disk works again, it
 * returns.
 */
class HangingDiskTest {
  /** Half a second. */
  private static final int STALL_TICKS = 10;

  private final Path temp;
  private @Nullable TestMembers members;

  HangingDiskTest(@TempDir Path temp) {
    this.temp = temp;
  }

  @AfterEach
  void stop() {
    if (members != null) {
      members.all().forEach(member -> member.wal().release());
      members.close();
    }
  }

  private TestMembers start(int count) throws Exception {
    TestMembers started =
        TestMembers.start(temp, count, new TestMember.Options(1_000_000, STALL_TICKS));
    members = started;
    return started;
  }

  @Test
  void otherMembersReplaceLeaderWithHangingDisk() throws Exception {
    TestMembers three = start(3);
    TestMember former = three.leader();
    TestMembers.put(former, "before", new byte[10]);
    former.wal().hang();
    CompletableFuture<ProposeReply> meanwhile =
        former.put("meanwhile", new byte[10]).toCompletableFuture();
    TestMembers.await("it to write", () -> former.wal().hasWaiter());
    WalProgress progress = former.metrics().disk().walProgress();
    long pending = progress.pendingOperation();
    assertThat(pending).isPositive();

    TestMembers.await("it to step down", () -> !former.leads());
    TestMembers.await(
        "another leader", () -> three.all().stream().anyMatch(m -> m != former && m.leads()));
    TestMember next = three.leader();
    assertThat(next).isNotSameAs(former);
    TestMembers.put(next, "after", new byte[10]);
    assertThat(former.wal().hasWaiter()).as("its disk still hangs").isTrue();
    assertThat(progress.pendingOperation()).isEqualTo(pending);
    assertThat(ShownMetrics.value(former.metrics(), "troupe_wal_pending_seconds")).isPositive();
    assertThat(former.leads()).isFalse();
    assertThat(meanwhile).as("what it does not hold it does not acknowledge").isNotDone();

    former.wal().release();
    long at = next.refs().status().applied();
    TestMembers.await("its return", () -> former.refs().status().applied() >= at);
    TestMembers.await("an idle disk", () -> progress.pendingOperation() == 0);
    assertThat(former.refs().state().hashKv(0).hash())
        .isEqualTo(next.refs().state().hashKv(0).hash());
    TestMembers.put(former, "through it", new byte[10]);
    for (TestMember member : three.all()) {
      assertThat(member.broken).as("failures of " + member.id).isEmpty();
    }
  }

  @Tag("full")
  @Test
  void singleMemberAcknowledgesNothingWhileItsDiskHangs() throws Exception {
    TestMembers one = start(1);
    TestMember only = one.leader();
    TestMembers.put(only, "before", new byte[10]);
    only.wal().hang();
    CompletableFuture<ProposeReply> meanwhile =
        only.put("meanwhile", new byte[10]).toCompletableFuture();
    TestMembers.await("it to write", () -> only.wal().hasWaiter());
    TestMembers.await("it to step down", () -> !only.leads());
    assertThat(meanwhile).isNotDone();
    only.wal().release();
    assertThat(one.leader()).isSameAs(only);
    TestMembers.put(only, "after", new byte[10]);
    assertThat(only.refs().state().count(TestMember.ALL, 0))
        .as("what was in the log is there")
        .isEqualTo(3);
    assertThat(only.broken).isEmpty();
  }
}
