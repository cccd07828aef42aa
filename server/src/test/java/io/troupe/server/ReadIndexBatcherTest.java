package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Refusal;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadExecutors;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Threads of reads: nothing runs here until the test runs it. */
class ReadIndexBatcherTest {
  private final FakeMember fake = new FakeMember(true);
  private final Queue<Runnable> points = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> ranges = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> hashes = new ConcurrentLinkedQueue<>();

  @AfterEach
  void stop() {
    fake.kit.shutdownTestKit();
  }

  private ReadIndexBatcher reads(Executor hashing) {
    Executor none =
        work -> {
          throw new AssertionError("no read of a client");
        };
    Member member =
        new Member(
            fake.member.status(),
            fake.member.state(),
            fake.member.raftActor(),
            fake.member.leaseActor(),
            fake.member.watchHub(),
            new ReadExecutors(points::add, ranges::add, hashing, none, none),
            fake.member.scheduler(),
            new PendingReplies(fake.member.scheduler()),
            fake.member.metrics(),
            fake.member.clientMemory(),
            fake.member.serverVersion());
    return new ReadIndexBatcher(member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
  }

  private void confirm() {
    fake.raft
        .expectMessageClass(RaftCommand.ReadIndex.class)
        .replyTo()
        .tell(new ReadReply.Ready(3, 0));
  }

  @Test
  void eachKindOfReadHasOwnThreads() throws Exception {
    ReadIndexBatcher reads = reads(hashes::add);
    CompletableFuture<String> first =
        reads.linearizable(ReadIndexBatcher.Kind.POINT, () -> "first").toCompletableFuture();
    List<CompletionStage<String>> others = new ArrayList<>();
    others.add(reads.linearizable(ReadIndexBatcher.Kind.RANGE, () -> "range"));
    others.add(reads.linearizable(ReadIndexBatcher.Kind.HASH, () -> "hash"));
    others.add(reads.serializable(ReadIndexBatcher.Kind.RANGE, () -> "range"));
    others.add(reads.serializable(ReadIndexBatcher.Kind.HASH, () -> "hash"));
    CompletableFuture<String> last =
        reads.linearizable(ReadIndexBatcher.Kind.POINT, () -> "last").toCompletableFuture();
    confirm();
    confirm();
    Awaitility.await().until(() -> points.size() == 2);
    points.forEach(Runnable::run);
    assertThat(first.get()).isEqualTo("first");
    assertThat(last.get()).isEqualTo("last");
    assertThat(others).as("wait for their own threads").noneMatch(ReadIndexBatcherTest::isDone);
    assertThat(ranges).hasSize(2);
    assertThat(hashes).hasSize(2);
    ranges.forEach(Runnable::run);
    hashes.forEach(Runnable::run);
    assertThat(others).allMatch(ReadIndexBatcherTest::isDone);
  }

  private static boolean isDone(CompletionStage<?> read) {
    return read.toCompletableFuture().isDone();
  }

  @Test
  void excessHashIsRefusedWithoutOtherReadsOfItsRound() throws Exception {
    ReadIndexBatcher reads =
        reads(
            work -> {
              throw new RefusedException(Refusal.TOO_MANY_REQUESTS);
            });
    CompletionStage<String> begins =
        reads.linearizable(ReadIndexBatcher.Kind.POINT, () -> "begins");
    CompletionStage<String> hash = reads.linearizable(ReadIndexBatcher.Kind.HASH, () -> "hash");
    CompletionStage<String> point = reads.linearizable(ReadIndexBatcher.Kind.POINT, () -> "point");
    confirm();
    confirm();
    Awaitility.await().until(() -> points.size() == 2);
    points.forEach(Runnable::run);
    assertThat(begins.toCompletableFuture().get()).isEqualTo("begins");
    assertThat(point.toCompletableFuture().get()).isEqualTo("point");
    for (CompletionStage<String> refused :
        List.of(hash, reads.serializable(ReadIndexBatcher.Kind.HASH, () -> "hash"))) {
      assertThatThrownBy(refused.toCompletableFuture()::get)
          .hasCause(new RefusedException(Refusal.TOO_MANY_REQUESTS));
    }
  }

  @Test
  void serializablePointReadNeedsNoOtherThreadIfItsResultIsInMemory() throws Exception {
    ReadIndexBatcher reads = reads(hashes::add);
    List<String> steps = new ArrayList<>();
    CompletionStage<String> known =
        reads.serializablePoint(
            CallTrace.NONE,
            () -> "from memory",
            () -> {
              throw new AssertionError("no read of the store");
            });
    assertThat(known.toCompletableFuture().getNow("late")).isEqualTo("from memory");
    assertThat(points).isEmpty();
    CompletionStage<String> unknown =
        reads.serializablePoint(
            CallTrace.NONE,
            () -> {
              steps.add("memory");
              return null;
            },
            () -> {
              steps.add("store");
              return "from the store";
            });
    assertThat(steps).containsExactly("memory");
    assertThat(points).hasSize(1);
    points.forEach(Runnable::run);
    assertThat(unknown.toCompletableFuture().get()).isEqualTo("from the store");
    assertThat(steps).containsExactly("memory", "store");
  }

  @Test
  void refusalOfReadFromMemoryReachesTheCaller() {
    ReadIndexBatcher reads = reads(hashes::add);
    assertThatThrownBy(
            () ->
                reads.serializablePoint(
                    CallTrace.NONE,
                    () -> {
                      throw new RefusedException(Refusal.PERMISSION_DENIED);
                    },
                    () -> "from the store"))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.reason()).isEqualTo(Refusal.PERMISSION_DENIED));
    assertThat(points).isEmpty();
  }
}
