package io.troupe.node.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.node.FakeStatus;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.Backups;
import io.troupe.persistence.backup.DirectoryTarget;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.txn.ResponseSpace;
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
class BackupScheduleTest {
  private static final NodeId SELF = new NodeId(0xd2);
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 1, 64, 0);

  private final Path target;
  private final RocksStore store;
  private final StateMachine machine;
  private final Backups backups;
  private final FakeStatus status = new FakeStatus(SELF);
  private final FakeClock clock = new FakeClock();
  private final BackupSchedule schedule;
  private long index;
  private boolean fits = true;

  BackupScheduleTest(@TempDir Path temp) {
    target = temp.resolve("backups");
    store = RocksStore.open(temp.resolve("state"), SMALL);
    machine = new StateMachine(store, 1 << 20);
    backups = new Backups(new DirectoryTarget(target));
    BackupSource source =
        new BackupSource(
            temp.resolve("checkpoint"),
            store::checkpoint,
            () -> fits,
            0xc1,
            SELF.value(),
            clock::instant);
    schedule =
        new BackupSchedule(
            new BackupSettings(target, Duration.ofHours(1), 2), backups, source, status, clock);
    status.leader = SELF;
    put();
  }

  @AfterEach
  void close() {
    schedule.close();
    machine.close();
    store.close();
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

  private void put() {
    index++;
    machine.apply(
        index,
        1,
        Requester.MEMBER,
        new Operation.Put(Bytes.utf8("key" + index), Bytes.utf8("value"), 0, false, false, false),
        ResponseSpace.none());
    machine.commit();
  }

  @Test
  void leaderWritesWhenTheNewestBackupIsAsOldAsTheInterval() {
    schedule.check();
    assertThat(backups.list()).hasSize(1);
    BackupManifest first = backups.find("");
    assertThat(first.time()).isEqualTo(clock.now);
    assertThat(first.index()).isEqualTo(index);
    assertThat(first.revision()).isEqualTo(machine.currentRevision());
    backups.verify(first);
    clock.advance(Duration.ofMinutes(59));
    schedule.check();
    assertThat(backups.list()).containsExactly(first);
    put();
    clock.advance(Duration.ofMinutes(1));
    schedule.check();
    assertThat(backups.list()).hasSize(2);
    assertThat(backups.find("").index()).isEqualTo(index);
  }

  @Test
  void onlyTheLeaderWrites() {
    status.leader = NodeId.NONE;
    schedule.check();
    status.leader = new NodeId(5);
    schedule.check();
    assertThat(backups.list()).isEmpty();
    status.leader = SELF;
    schedule.check();
    assertThat(backups.list()).hasSize(1);
  }

  @Test
  void newestBackupsRemain() {
    for (int i = 0; i < 5; i++) {
      put();
      schedule.check();
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
    schedule.check();
    assertThat(backups.list()).extracting(BackupManifest::cluster).contains(0xc1L, 0xeeL);
    for (int i = 0; i < 3; i++) {
      clock.advance(Duration.ofHours(1));
      schedule.check();
    }
    assertThat(backups.list())
        .extracting(BackupManifest::cluster)
        .containsExactlyInAnyOrder(0xc1L, 0xc1L, 0xeeL);
  }

  @Test
  void failedBackupIsTriedAgain() throws IOException {
    Files.writeString(target, "a file in place of the directory");
    assertThatThrownBy(schedule::check).isInstanceOf(BackupException.class);
    Files.delete(target);
    schedule.check();
    assertThat(backups.list()).hasSize(1);
    assertThat(target.resolveSibling("checkpoint")).doesNotExist();
  }

  /** A checkpoint writes the memory of the state, which may stop a member on a full disk. */
  @Test
  void nothingIsWrittenOnAFullDisk() {
    fits = false;
    assertThatThrownBy(schedule::check)
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("too little disk space");
    assertThat(backups.list()).isEmpty();
    fits = true;
    schedule.check();
    assertThat(backups.list()).hasSize(1);
  }
}
