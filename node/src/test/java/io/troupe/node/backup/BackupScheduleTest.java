package io.troupe.node.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.troupe.grpc.error.GrpcException;
import io.troupe.model.NodeId;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.Backups;
import io.troupe.persistence.backup.DirectoryTarget;
import io.troupe.server.FakeStatus;
import io.troupe.server.WrittenBackup;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backups on request, and targets that hang or fail. The clock of the stall timeout is fake. */
class BackupScheduleTest {
  private static final NodeId SELF = new NodeId(0xd2);
  private static final Duration STALL = Duration.ofMinutes(5);

  private final Path checkpoint;
  private final SmallState state;
  private final Backups backups;
  private final BlockingTarget target;
  private final FakeStatus status = new FakeStatus(SELF);
  private final AtomicLong nanos = new AtomicLong();
  private final TargetJobs jobs;
  private final BackupSchedule schedule;

  BackupScheduleTest(@TempDir Path temp) {
    Path directory = temp.resolve("backups");
    checkpoint = temp.resolve("checkpoint");
    state = new SmallState(temp.resolve("state"));
    state.put();
    backups = new Backups(new DirectoryTarget(directory));
    target = new BlockingTarget(new DirectoryTarget(directory));
    status.leader = SELF;
    BackupSettings settings =
        new BackupSettings(directory, Duration.ofHours(1), 10, Duration.ZERO, STALL);
    BackupSource source =
        new BackupSource(
            checkpoint, state.store::checkpoint, () -> true, 0xc1, SELF.value(), Instant::now);
    jobs = new TargetJobs("backup", target, STALL, nanos::get);
    BackupWriter writer = new BackupWriter(settings, source, status, () -> 0, Clock.systemUTC());
    schedule = new BackupSchedule(settings, writer, source, jobs, null);
  }

  @AfterEach
  void close() {
    target.release();
    schedule.close();
    state.close();
  }

  private CompletableFuture<BackupManifest> request() {
    return schedule.request().toCompletableFuture();
  }

  private static BackupManifest result(CompletableFuture<BackupManifest> request) throws Exception {
    return request.get(60, TimeUnit.SECONDS);
  }

  private void awaitHanging() {
    await().atMost(Duration.ofSeconds(60)).until(() -> target.hanging.get() == 1);
  }

  private void awaitIdle() {
    await().atMost(Duration.ofSeconds(60)).until(() -> !jobs.isBusy());
  }

  private static void assertFails(CompletableFuture<?> request, String text) {
    assertThatThrownBy(() -> request.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(BackupException.class)
        .hasMessageContaining(text);
  }

  @Test
  void requestIsAnsweredWithTheBackupThatExistsThen() throws Exception {
    BackupManifest written = result(request());
    assertThat(backups.list()).containsExactly(written);
    backups.verify(written);
    assertThat(written.index()).isEqualTo(state.index());
    WrittenBackup shown = schedule.write().toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertThat(shown.revision()).isEqualTo(state.machine.currentRevision());
    assertThat(shown.target()).isEqualTo(target.text());
    assertThat(schedule.failures()).isZero();
  }

  /** The one that is being written may lack what was acknowledged before the request. */
  @Test
  void requestsDuringABackupShareTheNextOne() throws Exception {
    target.block("manifests/");
    CompletableFuture<BackupManifest> first = request();
    awaitHanging();
    state.put();
    CompletableFuture<BackupManifest> second = request();
    CompletableFuture<BackupManifest> third = request();
    assertThat(first).isNotDone();
    target.release();
    assertThat(result(first).index()).isEqualTo(state.index() - 1);
    assertThat(result(second).index()).isEqualTo(state.index());
    assertThat(result(third)).isEqualTo(result(second));
    assertThat(backups.list()).hasSize(2);
  }

  @Test
  void failureIsToldAndCounted() throws Exception {
    target.failing("");
    assertFails(request(), "input/output error");
    assertThatThrownBy(() -> schedule.write().toCompletableFuture().get(60, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(GrpcException.class)
        .hasMessageStartingWith("backup failed: cannot write a backup to ");
    assertThat(schedule.failures()).isEqualTo(2);
    assertThat(checkpoint).doesNotExist();
    target.failing(null);
    BackupManifest written = result(request());
    assertThat(backups.list()).containsExactly(written);
  }

  /** Otherwise the checkpoint would keep deleted table files on the disk of the member. */
  @Test
  void hangingBackupIsGivenUpAndItsCheckpointRemoved() throws Exception {
    target.block("files/");
    schedule.tick();
    awaitHanging();
    assertThat(checkpoint).exists();
    nanos.addAndGet(STALL.toNanos() - 1);
    schedule.tick();
    assertThat(schedule.failures()).isZero();
    nanos.addAndGet(1);
    schedule.tick();
    assertThat(schedule.failures()).isOne();
    assertThat(checkpoint).doesNotExist();
    // No second thread gets stuck, and no time limit passes twice.
    nanos.addAndGet(2 * STALL.toNanos());
    schedule.tick();
    assertThat(target.hanging).hasValue(1);
    assertThat(schedule.failures()).isOne();
    assertFails(request(), "an earlier backup hangs while writing files/");
    target.release();
    awaitIdle();
    assertThat(backups.list()).as("the call that hung writes nothing more").isEmpty();
    schedule.tick();
    await().atMost(Duration.ofSeconds(60)).until(() -> backups.list().size() == 1);
    backups.verify(backups.find(""));
  }

  @Test
  void requestsLearnThatTheirBackupHangs() throws Exception {
    target.block("files/");
    CompletableFuture<BackupManifest> running = request();
    awaitHanging();
    CompletableFuture<BackupManifest> waiting = request();
    nanos.addAndGet(STALL.toNanos());
    schedule.tick();
    assertFails(running, "no progress for PT5M (backup.stall-timeout) while writing files/");
    assertFails(waiting, "does not respond");
    target.release();
    awaitIdle();
    BackupManifest written = result(request());
    assertThat(backups.list()).containsExactly(written);
  }

  /** Slow is not stuck: each part that passes restarts the time. */
  @Test
  void slowBackupIsNotGivenUp() throws Exception {
    target.block("files/");
    CompletableFuture<BackupManifest> slow = request();
    awaitHanging();
    nanos.addAndGet(STALL.toNanos() - 1);
    target.release();
    target.block("manifests/");
    awaitHanging();
    nanos.addAndGet(STALL.toNanos() - 1);
    schedule.tick();
    target.release();
    BackupManifest written = result(slow);
    assertThat(backups.list()).containsExactly(written);
  }

  @Test
  void requestOfAMemberThatStopsFails() throws Exception {
    target.block("files/");
    CompletableFuture<BackupManifest> running = request();
    awaitHanging();
    CompletableFuture<BackupManifest> waiting = request();
    schedule.close();
    assertFails(waiting, "the member stops");
    assertFails(request(), "the member stops");
    target.release();
    assertFails(running, "given up");
    assertThat(backups.list()).isEmpty();
    assertThat(checkpoint).doesNotExist();
  }
}
