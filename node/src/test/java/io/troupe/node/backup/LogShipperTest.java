package io.troupe.node.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.mvcc.FrozenHistory;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupLog;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.Continuation;
import io.troupe.persistence.backup.DirectoryTarget;
import io.troupe.server.FakeStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What members write to the log in the target, also when they take turns. */
class LogShipperTest {
  private static final long CLUSTER = 0xc1;
  private static final Instant NOW = Instant.parse("2026-11-26T03:04:05Z");

  private final Path store;
  private final DirectoryTarget target;
  private final BackupLog log;

  LogShipperTest(@TempDir Path temp) {
    store = temp.resolve("store");
    target = new DirectoryTarget(store);
    log = new BackupLog(target);
  }

  /** A member with a log in memory. */
  private final class FakeMember {
    private final FakeStatus status;
    private final List<Entry> own = new ArrayList<>();
    private long applied;
    private int most = Integer.MAX_VALUE;
    private final LogShipper shipper;

    FakeMember(long id) {
      status = new FakeStatus(new NodeId(id));
      shipper =
          new LogShipper(
              CLUSTER, status, this::position, this::read, Clock.fixed(NOW, ZoneOffset.UTC));
    }

    private FrozenHistory position() {
      return new FrozenHistory(applied + 100, -1, applied, applied == 0 ? 0 : term(applied));
    }

    private long term(long index) {
      return own.stream().filter(entry -> entry.index() == index).findFirst().orElseThrow().term();
    }

    private List<Entry> read(long from, long until, long maxBytes) {
      List<Entry> found =
          own.stream()
              .filter(entry -> entry.index() >= from && entry.index() < until)
              .limit(Math.min(most, maxBytes))
              .toList();
      return found.isEmpty() || found.get(0).index() != from ? List.of() : found;
    }

    /** Appends and applies entries up to an index. */
    void apply(long term, long last) {
      for (long index = applied + 1; index <= last; index++) {
        own.add(new Entry(term, index, Entry.Kind.OPERATION, Bytes.utf8(term + "/" + index)));
      }
      applied = last;
    }

    /** A snapshot of another member replaced its log. */
    void install(FakeMember from) {
      own.clear();
      own.add(from.own.get(from.own.size() - 1));
      applied = from.applied;
    }

    void copy(FakeMember from) {
      own.clear();
      own.addAll(from.own);
      applied = from.applied;
    }

    void drop(long below) {
      own.removeIf(entry -> entry.index() < below);
    }

    void ship() {
      status.leader = status.memberId();
      shipper.ship(target);
    }

    /** Another member leads. */
    void follow() {
      status.leader = new NodeId(99);
      shipper.ship(target);
    }
  }

  private List<Long> after(long index, long term) {
    List<Long> indexes = new ArrayList<>();
    continuation(index, term)
        .read(
            (entries, part) -> {
              entries.forEach(entry -> indexes.add(entry.index()));
              return true;
            });
    return indexes;
  }

  private Continuation continuation(long index, long term) {
    return log.after(new BackupManifest(NOW, CLUSTER, 1, index, term, index + 100, List.of()));
  }

  private static List<Long> range(long first, long last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  private long files() throws IOException {
    try (Stream<Path> files = Files.list(store.resolve("logs"))) {
      return files.count();
    }
  }

  @Test
  void leaderWritesWhatWasAppliedSinceTheLastRun() throws IOException {
    FakeMember one = new FakeMember(1);
    one.apply(1, 10);
    one.ship();
    assertThat(one.shipper.begins()).isEqualTo(11);
    assertThat(one.shipper.complete()).isEqualTo(NOW);
    assertThat(store.resolve("logs")).as("nothing to write yet").doesNotExist();
    one.apply(1, 13);
    one.ship();
    one.ship();
    assertThat(files()).isOne();
    one.apply(2, 20);
    one.ship();
    assertThat(after(10, 1)).isEqualTo(range(11, 20));
    assertThat(continuation(10, 1).reach()).isEqualTo(new Continuation.Reach(20, 120, NOW));
  }

  @Test
  void otherMembersWriteNothing() {
    FakeMember one = new FakeMember(1);
    one.apply(1, 10);
    one.follow();
    one.status.leader = NodeId.NONE;
    one.shipper.ship(target);
    assertThat(one.shipper.begins()).isZero();
    assertThat(one.shipper.complete()).isNull();
    assertThat(store).doesNotExist();
  }

  /** The memory for a part is bounded; the revision is known after the last one only. */
  @Test
  void longLogIsWrittenInParts() throws IOException {
    FakeMember one = new FakeMember(1);
    one.most = 4;
    one.apply(1, 10);
    one.ship();
    one.apply(1, 20);
    one.ship();
    assertThat(files()).isEqualTo(3);
    assertThat(after(10, 1)).isEqualTo(range(11, 20));
    assertThat(continuation(10, 1).reach().revision()).isEqualTo(120);
  }

  @Test
  void newLeaderContinues() {
    FakeMember one = new FakeMember(1);
    FakeMember two = new FakeMember(2);
    one.apply(1, 10);
    one.ship();
    one.apply(1, 15);
    one.ship();
    two.copy(one);
    one.follow();
    two.apply(2, 20);
    two.ship();
    assertThat(two.shipper.begins()).isEqualTo(11);
    assertThat(after(10, 1)).isEqualTo(range(11, 20));
    one.copy(two);
    two.follow();
    assertThat(two.shipper.begins()).isZero();
    one.apply(3, 30);
    one.ship();
    assertThat(after(10, 1)).isEqualTo(range(11, 30));
  }

  /** The last entry is in the state, but not in the log any more. */
  @Test
  void newLeaderContinuesAfterTheNewestEntryOfItsState() {
    FakeMember one = new FakeMember(1);
    FakeMember two = new FakeMember(2);
    one.apply(1, 10);
    one.ship();
    one.apply(1, 15);
    one.ship();
    two.install(one);
    two.ship();
    two.apply(2, 20);
    two.ship();
    assertThat(after(10, 1)).isEqualTo(range(11, 20));
  }

  /** It has applied less: what it will apply is in the target already, or it stops leading. */
  @Test
  void leaderThatIsBehindTheTargetWaits() {
    FakeMember one = new FakeMember(1);
    FakeMember two = new FakeMember(2);
    one.apply(1, 10);
    one.ship();
    two.copy(one);
    one.apply(1, 15);
    one.ship();
    two.ship();
    assertThat(two.shipper.complete()).isNull();
    assertThat(two.shipper.begins()).isZero();
    two.copy(one);
    two.apply(2, 20);
    two.ship();
    assertThat(two.shipper.complete()).isEqualTo(NOW);
    assertThat(after(10, 1)).isEqualTo(range(11, 20));
  }

  @Test
  void gapBeginsANewStream() {
    FakeMember one = new FakeMember(1);
    one.apply(1, 10);
    one.ship();
    one.apply(1, 15);
    one.ship();
    one.apply(1, 30);
    one.drop(25);
    one.ship();
    assertThat(one.shipper.begins()).isEqualTo(31);
    one.apply(1, 40);
    one.ship();
    assertThat(after(12, 1)).isEqualTo(range(13, 15));
    assertThat(after(20, 1)).isEmpty();
    assertThat(after(30, 1)).isEqualTo(range(31, 40));
  }

  @Test
  void leaderWithoutTheLastEntryBeginsANewStream() {
    FakeMember one = new FakeMember(1);
    FakeMember two = new FakeMember(2);
    one.apply(1, 10);
    one.ship();
    one.apply(1, 15);
    one.ship();
    one.apply(1, 30);
    two.install(one);
    two.ship();
    two.apply(2, 40);
    two.ship();
    assertThat(two.shipper.begins()).isEqualTo(31);
    assertThat(after(10, 1)).isEqualTo(range(11, 15));
    assertThat(after(30, 1)).isEqualTo(range(31, 40));
  }

  /** A member became the only one of its cluster: its log repeats indexes in a higher term. */
  @Test
  void otherHistoryBeginsANewStream() {
    FakeMember one = new FakeMember(1);
    FakeMember two = new FakeMember(2);
    one.apply(1, 10);
    one.ship();
    two.copy(one);
    one.apply(1, 30);
    one.ship();
    two.apply(5, 20);
    two.ship();
    assertThat(two.shipper.begins()).as("shorter than the old one").isEqualTo(21);
    two.apply(5, 25);
    two.ship();
    assertThat(after(10, 1)).isEqualTo(range(11, 30));
    assertThat(after(20, 5)).isEqualTo(range(21, 25));
    FakeMember three = new FakeMember(3);
    three.copy(one);
    three.drop(11);
    three.own.add(0, new Entry(1, 10, Entry.Kind.NOOP, Bytes.EMPTY));
    three.apply(6, 50);
    three.ship();
    assertThat(three.shipper.begins()).as("entry 25 has term 1 there").isEqualTo(51);
  }

  /** What was written stays, the rest follows. */
  @Test
  void failedRunIsRepeated() {
    FakeMember one = new FakeMember(1);
    one.most = 4;
    one.apply(1, 10);
    one.ship();
    one.apply(1, 15);
    one.ship();
    one.apply(1, 30);
    String second = "logs/" + stream() + ".0000000000000014";
    BlockingTarget failing = new BlockingTarget(target);
    failing.failing(second);
    one.status.leader = one.status.memberId();
    assertThatThrownBy(() -> one.shipper.ship(failing))
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("input/output error");
    assertThat(after(10, 1)).isEqualTo(range(11, 19));
    one.most = 7;
    one.ship();
    assertThat(after(10, 1)).isEqualTo(range(11, 30));
  }

  private String stream() {
    try (Stream<Path> files = Files.list(store.resolve("logs"))) {
      String name = String.valueOf(files.findFirst().orElseThrow().getFileName());
      return name.substring(0, name.indexOf('.'));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void runThatHangsIsGivenUpAndContinuedLater() {
    FakeMember one = new FakeMember(1);
    one.status.leader = one.status.memberId();
    one.apply(1, 10);
    AtomicLong nanos = new AtomicLong();
    BlockingTarget blocking = new BlockingTarget(target);
    Duration limit = Duration.ofMinutes(5);
    TargetJobs jobs = new TargetJobs("backup-log", blocking, limit, nanos::get);
    try (LogSchedule schedule = new LogSchedule(one.shipper, jobs)) {
      schedule.tick();
      awaitIdle(jobs);
      one.apply(1, 15);
      blocking.block("logs/");
      schedule.tick();
      await().atMost(Duration.ofSeconds(60)).until(() -> blocking.hanging.get() == 1);
      nanos.addAndGet(limit.toNanos());
      schedule.tick();
      schedule.tick();
      assertThat(schedule.failures()).isOne();
      assertThat(blocking.hanging).hasValue(1);
      blocking.release();
      awaitIdle(jobs);
      one.apply(1, 20);
      schedule.tick();
      awaitIdle(jobs);
      assertThat(schedule.failures()).isOne();
      assertThat(after(10, 1)).isEqualTo(range(11, 20));
    }
  }

  private static void awaitIdle(TargetJobs jobs) {
    await().atMost(Duration.ofSeconds(60)).until(() -> !jobs.isBusy());
  }
}
