package io.troupe.etcd.wal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EtcdLogTest {
  private final Path dir;
  private final LogFixture log;

  EtcdLogTest(@TempDir Path temp) throws IOException {
    dir = temp;
    log = new LogFixture(temp);
  }

  private static List<String> entries(EtcdLog read, long after) throws IOException {
    List<String> entries = new ArrayList<>();
    for (long index = after + 1; index <= read.lastIndex(); index++) {
      EtcdEntry entry = read.entry(index);
      assertThat(entry.index()).isEqualTo(index);
      entries.add(entry.term() + entry.data().utf8());
    }
    return entries;
  }

  private List<String> entries(long after) throws IOException {
    try (EtcdLog read = EtcdLog.open(dir, after)) {
      return entries(read, after);
    }
  }

  private void threeFiles() throws IOException {
    log.entry(1, 1, "a").state(1, 1).entry(1, 2, "b").state(1, 2).cut();
    log.state(1, 2).entry(1, 3, "c").entry(2, 4, "d").snapshot(3, 1).state(2, 4).cut();
    log.state(2, 4).entry(2, 5, "e").save();
  }

  @Test
  void entriesAreReadAcrossFiles() throws IOException {
    threeFiles();
    try (EtcdLog read = EtcdLog.open(dir, 2)) {
      assertThat(entries(read, 2)).containsExactly("1c", "2d", "2e");
      assertThat(read.memberId()).isEqualTo(LogFixture.MEMBER);
      assertThat(read.clusterId()).isEqualTo(LogFixture.CLUSTER);
      assertThat(read.term()).isEqualTo(2);
      assertThat(read.commit()).isEqualTo(4);
      assertThat(read.termAfter()).isEqualTo(1);
      assertThat(read.snapshotIndex()).isEqualTo(3);
      assertThat(read.torn()).isNull();
    }
    assertThat(entries(0)).containsExactly("1a", "1b", "1c", "2d", "2e");
    assertThat(entries(4)).containsExactly("2e");
    assertThat(entries(5)).isEmpty();
  }

  @Test
  void onlyNeededFilesAreRead() throws IOException {
    threeFiles();
    Files.write(dir.resolve("0000000000000000-0000000000000000.wal"), new byte[] {1, 2, 3});
    Files.write(dir.resolve("0.tmp"), new byte[] {1});
    assertThat(entries(3)).containsExactly("2d", "2e");
    assertThatThrownBy(() -> entries(2)).isInstanceOf(DamagedLogException.class);
  }

  @Test
  void laterEntryReplacesThoseFromItsIndexOn() throws IOException {
    log.entry(1, 1, "a").entry(1, 2, "b").entry(1, 3, "c").entry(2, 2, "x").state(2, 2).save();
    assertThat(entries(0)).containsExactly("1a", "2x");
    assertThat(entries(1)).containsExactly("2x");
  }

  /** The record of etcd before the cut end is complete, so nothing acknowledged is lost. */
  @Test
  void tornRecordEndsTheLogWhereverItIsCut() throws IOException {
    log.entry(1, 1, "a").state(1, 1);
    int whole = log.size();
    Path file = log.entry(1, 2, "b".repeat(2000)).save();
    byte[] all = Files.readAllBytes(file);
    for (int end = whole; end < all.length; end++) {
      Files.write(file, Arrays.copyOf(all, end));
      try (EtcdLog read = EtcdLog.open(dir, 0)) {
        assertThat(entries(read, 0)).as("end " + end).containsExactly("1a");
        assertThat(read.torn() == null).as("end " + end).isEqualTo(end == whole);
      }
    }
    // Preallocated files: the rest of the torn record is zero, from a sector on.
    for (int end = whole + 512; end + 1024 < all.length; end += 512) {
      byte[] torn = Arrays.copyOf(all, all.length + 4096);
      int sector = (end + 511) / 512 * 512;
      Arrays.fill(torn, sector, all.length, (byte) 0);
      Files.write(file, torn);
      try (EtcdLog read = EtcdLog.open(dir, 0)) {
        assertThat(entries(read, 0)).containsExactly("1a");
        assertThat(read.torn()).contains(file + " at position " + whole);
      }
    }
  }

  @Test
  void everyChangedByteOfARecordIsDetected() throws IOException {
    int from = log.size();
    int until = log.entry(1, 1, "some data").size();
    Path file = log.state(1, 1).entry(1, 2, "b").cut().state(1, 1).entry(1, 3, "c").save();
    Path first = dir.resolve("0000000000000000-0000000000000000.wal");
    assertThat(file).isNotEqualTo(first);
    byte[] all = Files.readAllBytes(first);
    List<Integer> undetected = new ArrayList<>();
    for (int at = from; at < until; at++) {
      byte[] changed = all.clone();
      changed[at] ^= 0x10;
      Files.write(first, changed);
      try {
        assertThat(entries(0)).containsExactly("1some data", "1b", "1c");
        undetected.add(at);
      } catch (DamagedLogException e) {
        assertThat(e.getMessage()).contains("0000000000000000-0000000000000000.wal at position");
      }
    }
    // Bits without a meaning: unused bits of the padding's length and of the checksum's last byte,
    // and the padding itself.
    assertThat(undetected)
        .allMatch(at -> at == from + 7 || at == from + 15 || at >= until - 7)
        .hasSizeLessThan(9);
  }

  @Test
  void damageInTheLastRecordIsNotTakenForATornWrite() throws IOException {
    log.entry(1, 1, "a").state(1, 1);
    int whole = log.size();
    Path file = log.entry(1, 2, "b".repeat(2000)).save();
    byte[] all = Files.readAllBytes(file);
    all[whole + 1000] ^= 1;
    Files.write(file, all);
    assertThatThrownBy(() -> entries(0))
        .isInstanceOf(DamagedLogException.class)
        .hasMessageContaining(file + " at position " + whole + ": checksum mismatch");
  }

  @Test
  void missingPartsAreReported() throws IOException {
    threeFiles();
    Files.delete(dir.resolve("0000000000000001-0000000000000003.wal"));
    assertThatThrownBy(() -> entries(0)).hasMessageContaining("is missing");
    Files.delete(dir.resolve("0000000000000000-0000000000000000.wal"));
    assertThatThrownBy(() -> entries(2))
        .hasMessageContaining(
            "entry 5 does not follow entry 2, the last one that the database contains");
    Files.delete(dir.resolve("0000000000000002-0000000000000005.wal"));
    assertThatThrownBy(() -> entries(0)).hasMessageContaining("has no file of a log (*.wal)");
  }

  @Test
  void missingCommittedEntryIsDamage() throws IOException {
    log.entry(1, 1, "a").state(1, 3).save();
    assertThatThrownBy(() -> entries(0))
        .isInstanceOf(DamagedLogException.class)
        .hasMessageContaining("ends with entry 1, but entry 3 was committed");
  }

  /** A received snapshot: etcd writes it before the hard state, and then entries after it. */
  @Test
  void logThatContinuesAfterASnapshotIsNotDamaged() throws IOException {
    log.entry(1, 1, "a").state(1, 1).snapshot(9, 2).state(2, 9).save();
    assertRestarted();
    log.entry(2, 10, "b").state(2, 10).cut().entry(2, 11, "c").state(2, 11).save();
    assertRestarted();
  }

  private void assertRestarted() throws IOException {
    try (EtcdLog read = EtcdLog.open(dir, 0)) {
      assertThat(read.snapshotIndex()).isEqualTo(9);
      assertThat(entries(read, 0)).containsExactly("1a");
    }
  }

  @Test
  void otherMembersFileIsRefused() throws IOException {
    log.entry(1, 1, "a").record(1, Bytes.of(8, 1, 16, 1)).save();
    assertThatThrownBy(() -> entries(0))
        .hasMessageContaining("the record of another member or cluster");
  }
}
