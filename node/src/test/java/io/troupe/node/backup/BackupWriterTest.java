package io.troupe.node.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.NodeId;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.Backups;
import io.troupe.persistence.backup.DirectoryTarget;
import io.troupe.server.FakeStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a backup is written, by whom, and which ones remain. */
class BackupWriterTest {
  private static final NodeId SELF = new NodeId(0xd2);

  private final Path target;
  private final SmallState state;
  private final Backups backups;
  private final FakeStatus status = new FakeStatus(SELF);
  private final FakeClock clock = new FakeClock();
  private final BackupWriter writer;
  private boolean fits = true;
  private long logBegins;

  BackupWriterTest(@TempDir Path temp) {
    target = temp.resolve("backups");
    state = new SmallState(temp.resolve("state"));
    backups = new Backups(new DirectoryTarget(target));
    BackupSource source =
        new BackupSource(
            temp.resolve("checkpoint"),
            state.store::checkpoint,
            () -> fits,
            0xc1,
            SELF.value(),
            clock::instant);
    BackupSettings settings =
        new BackupSettings(
            target, Duration.ofHours(1), 2, Duration.ofSeconds(10), Duration.ofMinutes(5));
    writer = new BackupWriter(settings, source, status, () -> logBegins, clock);
    status.leader = SELF;
    state.put();
  }

  @AfterEach
  void close() {
    state.close();
  }

  private static final class FakeClock extends Clock {
    Instant now = Instant.parse("2026-11-26T03:04:05Z");

    void advance(Duration time) {
      now = now.plus(time);
    }

    @Override
    public Instant instant() {
      return now;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  private void check() {
    writer.writeIfDue(new DirectoryTarget(target));
  }

  @Test
  void leaderWritesWhenTheNewestBackupIsAsOldAsTheInterval() {
    check();
    assertThat(backups.list()).hasSize(1);
    BackupManifest first = backups.find("");
    assertThat(first.time()).isEqualTo(clock.now);
    assertThat(first.index()).isEqualTo(state.index());
    assertThat(first.revision()).isEqualTo(state.machine.currentRevision());
    backups.verify(first);
    clock.advance(Duration.ofMinutes(59));
    check();
    assertThat(backups.list()).containsExactly(first);
    state.put();
    clock.advance(Duration.ofMinutes(1));
    check();
    assertThat(backups.list()).hasSize(2);
    assertThat(backups.find("").index()).isEqualTo(state.index());
  }

  @Test
  void onlyTheLeaderWrites() {
    status.leader = NodeId.NONE;
    check();
    status.leader = new NodeId(5);
    check();
    assertThat(backups.list()).isEmpty();
    status.leader = SELF;
    check();
    assertThat(backups.list()).hasSize(1);
  }

  /** A log with a gap before it is of no use without one; a log with many gaps is no reason. */
  @Test
  void logThatBeginsAfterTheNewestBackupNeedsOne() {
    check();
    state.put();
    logBegins = state.index() + 1;
    clock.advance(Duration.ofSeconds(99));
    check();
    assertThat(backups.list()).hasSize(1);
    clock.advance(Duration.ofSeconds(1));
    check();
    assertThat(backups.list()).extracting(BackupManifest::index).containsExactly(2L, 1L);
    clock.advance(Duration.ofMinutes(59));
    check();
    assertThat(backups.list()).as("it continues the newest one").hasSize(2);
  }

  /** A backup on request is one more, whatever the age of the newest one is. */
  @Test
  void requestedBackupIsWrittenAtOnceByTheLeaderAlone() {
    check();
    state.put();
    BackupManifest second = writer.write(new DirectoryTarget(target));
    assertThat(second.index()).isEqualTo(state.index());
    assertThat(backups.list()).hasSize(2).contains(second);
    assertThat(writer.newest()).isEqualTo(clock.now);
    status.leader = new NodeId(5);
    assertThatThrownBy(() -> writer.write(new DirectoryTarget(target)))
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("does not lead");
    assertThat(backups.list()).hasSize(2);
  }

  @Test
  void newestBackupsRemain() {
    for (int i = 0; i < 5; i++) {
      state.put();
      check();
      clock.advance(Duration.ofHours(1));
    }
    assertThat(backups.list()).extracting(BackupManifest::index).containsExactly(6L, 5L);
  }

  /** Another cluster may use the same directory by mistake; its backups do not count. */
  @Test
  void backupOfAnotherClusterDoesNotReplaceOne() throws IOException {
    Path content = Files.createDirectory(target.resolveSibling("content"));
    Files.writeString(content.resolve("CURRENT"), "1");
    backups.write(content, new Backups.Origin(clock.now, 0xee, 1, 9, 1, 9));
    check();
    assertThat(backups.list()).extracting(BackupManifest::cluster).contains(0xc1L, 0xeeL);
    for (int i = 0; i < 3; i++) {
      clock.advance(Duration.ofHours(1));
      check();
    }
    assertThat(backups.list())
        .extracting(BackupManifest::cluster)
        .containsExactlyInAnyOrder(0xc1L, 0xc1L, 0xeeL);
  }

  @Test
  void failedBackupIsTriedAgain() throws IOException {
    Files.writeString(target, "a file in place of the directory");
    assertThatThrownBy(this::check).isInstanceOf(BackupException.class);
    Files.delete(target);
    check();
    assertThat(backups.list()).hasSize(1);
    assertThat(target.resolveSibling("checkpoint")).doesNotExist();
  }

  /** A checkpoint writes the memory of the state, which may stop a member on a full disk. */
  @Test
  void nothingIsWrittenOnAFullDisk() {
    fits = false;
    assertThatThrownBy(this::check)
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("too little disk space");
    assertThat(backups.list()).isEmpty();
    fits = true;
    check();
    assertThat(backups.list()).hasSize(1);
  }
}
