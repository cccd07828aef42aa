package io.troupe.persistence.wal;

import static io.troupe.persistence.wal.WalFixture.entries;
import static io.troupe.persistence.wal.WalFixture.records;
import static io.troupe.persistence.wal.WalFixture.segments;
import static io.troupe.persistence.wal.WalFixture.state;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Entry;
import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replay of damaged files. The rule (durability rule 2): never a wrong entry, never a forced entry
 * lost silently while a later record proves that it was forced.
 */
class WalDamageTest {
  private final Path temp;
  private final Path clean;
  private final Path broken;
  private final List<SegmentName> names = new ArrayList<>();

  /** Model after each record; the index is the number of the record. */
  private final List<LogModel> models = new ArrayList<>();

  private final List<Placed> placed = new ArrayList<>();

  private record Placed(SegmentName segment, long position, long end, long sequence, long forced) {}

  WalDamageTest(@TempDir Path temp) {
    this.temp = temp;
    this.clean = temp.resolve("clean");
    this.broken = temp.resolve("broken");
  }

  /**
   * Three segments (three starts). The first two were closed cleanly. In the last one every record
   * was forced except the last three; the copy is what a kill would leave.
   */
  @BeforeEach
  void writeALog() throws IOException {
    Path live = temp.resolve("live");
    LogModel model = LogModel.EMPTY;
    models.add(model);
    long index = 1;
    for (int start = 1; start <= 3; start++) {
      ChronicleWal wal = WalFixture.open(live);
      models.add(model);
      for (int batch = 0; batch < 8; batch++) {
        long from = batch == 5 ? index - 2 : index;
        List<Entry> added = entries(start * 10L + batch, from, from + 2, 80);
        model = model.append(state(start * 10L + batch, start, from - 1), added);
        wal.append(model.state(), added);
        models.add(model);
        index = from + 3;
        if (start < 3 || batch < 5) {
          wal.sync();
        }
      }
      if (start < 3) {
        wal.close();
        models.add(model);
      } else {
        WalFixture.copy(live, clean);
        wal.close();
      }
    }
    names.addAll(segments(clean));
    for (SegmentName name : names) {
      for (SegmentScanner.Found found : records(clean, name)) {
        WalRecord record = found.record();
        placed.add(
            new Placed(name, found.position(), found.end(), record.sequence(), record.forced()));
      }
    }
    assertThat(placed).hasSize(models.size() - 1);
    assertThat(names).hasSize(3);
  }

  @Test
  void truncatedLogKeepsExactlyRecordsBeforeTruncation() throws IOException {
    SegmentName last = names.get(2);
    byte[] whole = Files.readAllBytes(last.dataFile(clean));
    long used = placed.get(placed.size() - 1).end();
    WalFixture.copy(clean, broken);
    for (int cut = 0; cut <= used + 64; cut++) {
      try (FileChannel file = FileChannel.open(last.dataFile(broken), StandardOpenOption.WRITE)) {
        file.truncate(0);
        file.write(ByteBuffer.wrap(whole, 0, cut));
      }
      int kept = 0;
      for (Placed record : placed) {
        kept += !record.segment().equals(last) || record.end() <= cut ? 1 : 0;
      }
      assertSays(kept, "cut at " + cut);
    }
  }

  @Test
  void continuesAfterTornTailAndReplaysAll() throws IOException {
    SegmentName last = names.get(2);
    byte[] whole = Files.readAllBytes(last.dataFile(clean));
    Random random = new Random(11);
    for (int round = 0; round < 20; round++) {
      WalFixture.copy(clean, broken);
      int cut = random.nextInt((int) placed.get(placed.size() - 1).end());
      try (FileChannel file = FileChannel.open(last.dataFile(broken), StandardOpenOption.WRITE)) {
        file.truncate(cut);
        // A torn sector: the bytes after the cut are neither the old ones nor zeros.
        byte[] noise = new byte[200];
        random.nextBytes(noise);
        file.write(ByteBuffer.wrap(noise), cut);
      }
      assertThat(whole.length).isGreaterThan(cut);
      WalReplay before = WalReplay.read(broken, 0);
      LogModel model = new LogModel(before.hardState(), before.entries(), 0, before.lastIndex());
      for (int again = 0; again < 3; again++) {
        try (ChronicleWal wal =
            ChronicleWal.open(broken, WalFixture.SMALL, WalReplay.read(broken, 0))) {
          List<Entry> more = entries(90 + again, model.last() + 1, model.last() + 2, 50);
          model = model.append(state(90 + again, 1, 0), more);
          wal.append(model.state(), more);
          wal.sync();
        }
        WalReplay after = WalReplay.read(broken, 0);
        assertThat(after.entries()).as("cut at %d", cut).isEqualTo(model.entries());
        assertThat(after.hardState()).isEqualTo(model.state());
        assertThat(after.tornTail()).isNull();
      }
    }
  }

  @Test
  void zeroedSectorIsTornTailOrCorruptionButNeverWrongEntry() throws IOException {
    for (SegmentName name : names) {
      long used = Files.size(name.dataFile(clean));
      for (long sector = 0; sector < Math.min(used, 8192); sector += 512) {
        WalFixture.copy(clean, broken);
        long length = Math.min(512, used - sector);
        byte[] before = readAt(name, sector, (int) length);
        writeAt(name, sector, new byte[(int) length]);
        boolean changed = false;
        for (byte b : before) {
          changed |= b != 0;
        }
        check(name, sector, sector + length, changed, "sector " + sector + " of " + name.text());
      }
    }
  }

  @Test
  void flippedBitIsTornTailOrCorruptionButNeverWrongEntry() throws IOException {
    long seed = 20_261;
    Random random = new Random(seed);
    WalFixture.copy(clean, broken);
    for (int round = 0; round < 300; round++) {
      SegmentName name = names.get(random.nextInt(3));
      long used = placed.stream().filter(p -> p.segment().equals(name)).count();
      long end =
          placed.stream()
              .filter(p -> p.segment().equals(name))
              .skip(used - 1)
              .findFirst()
              .orElseThrow()
              .end();
      long at = random.nextInt((int) end);
      byte[] old = readAt(name, at, 1);
      writeAt(name, at, new byte[] {(byte) (old[0] ^ (1 << random.nextInt(8)))});
      check(name, at, at + 1, true, "seed " + seed + " round " + round + " byte " + at);
      writeAt(name, at, old);
    }
  }

  @Test
  void unforcedRecordsMayArriveInAnyOrder() throws IOException {
    // Of the three unforced records at the end, only the later ones reached the disk.
    Placed first = placed.get(placed.size() - 3);
    WalFixture.copy(clean, broken);
    writeAt(first.segment(), first.position(), new byte[(int) (first.end() - first.position())]);
    assertSays(placed.size() - 3, "hole in the unforced tail");
    assertThat(WalReplay.read(broken, 0).tornTail()).contains(first.segment().text());
  }

  @Test
  void gapBeforeForcedRecordIsReportedAsCorruption() throws IOException {
    Placed damaged = placed.get(placed.size() - 5);
    WalFixture.copy(clean, broken);
    writeAt(damaged.segment(), damaged.position() + 40, new byte[] {77});
    assertThatThrownBy(() -> WalReplay.read(broken, 0))
        .isInstanceOfSatisfying(
            WalCorruptException.class,
            e -> {
              assertThat(e.segment()).isEqualTo(damaged.segment().text());
              assertThat(e.position()).isLessThanOrEqualTo(damaged.position());
              assertThat(e).hasMessageContaining("record " + damaged.sequence());
            });
  }

  @Test
  void damagedChronicleBytesAreHarmless() throws IOException {
    WalFixture.copy(clean, broken);
    for (SegmentName name : names) {
      writeAt(name, 0, new byte[300]);
      for (Placed record : placed) {
        if (record.segment().equals(name)) {
          writeAt(name, record.position() - 4, new byte[] {-1, -1, -1, -1});
        }
      }
    }
    assertSays(placed.size(), "without Chronicle's headers");
  }

  @Test
  void missingSegmentIsCorruption() throws IOException {
    for (int missing = 0; missing < 2; missing++) {
      WalFixture.copy(clean, broken);
      DurableFiles.deleteTree(broken.resolve(names.get(missing).text()));
      assertThatThrownBy(() -> WalReplay.read(broken, 0)).isInstanceOf(WalCorruptException.class);
      WalFixture.copy(clean, broken);
      Files.delete(names.get(missing).dataFile(broken));
      assertThatThrownBy(() -> WalReplay.read(broken, 0)).isInstanceOf(WalCorruptException.class);
    }
  }

  @Test
  void lastSegmentWithoutRecordIsCorruptionUnlessJustCreated() throws IOException {
    SegmentName last = names.get(2);
    WalFixture.copy(clean, broken);
    byte[] noise = new byte[10_000];
    new Random(5).nextBytes(noise);
    writeAt(last, 0, noise);
    assertThatThrownBy(() -> WalReplay.read(broken, 0)).isInstanceOf(WalCorruptException.class);
    Files.write(last.dataFile(broken), new byte[100_000]);
    writeAt(last, 0, java.util.Arrays.copyOf(noise, 500));
    int before = (int) placed.stream().filter(p -> !p.segment().equals(last)).count();
    assertSays(before, "crash at creation");
    WalFixture.open(broken).close();
    assertThat(WalReplay.read(broken, 0).entries()).isEqualTo(models.get(before).entries());
  }

  @Test
  void segmentOfAnotherLogIsCorruption() throws IOException {
    Path other = temp.resolve("other");
    try (ChronicleWal wal = WalFixture.open(other)) {
      wal.append(state(1, 0, 0), entries(1, 1, 2, 10));
    }
    SegmentName foreign = segments(other).get(0);
    WalFixture.copy(clean, broken);
    Path place = broken.resolve(new SegmentName(4, foreign.salt()).text());
    WalFixture.copy(other.resolve(foreign.text()), place);
    assertThatThrownBy(() -> WalReplay.read(broken, 0)).isInstanceOf(WalCorruptException.class);
  }

  /** Replay must return the state after some record, or refuse; refusing needs proof of a loss. */
  private void check(SegmentName name, long from, long to, boolean changed, String what)
      throws IOException {
    Placed firstHit = null;
    for (Placed record : placed) {
      boolean hit =
          record.segment().equals(name) && record.position() < to && record.end() > from && changed;
      if (hit && firstHit == null && differs(record)) {
        firstHit = record;
      }
    }
    if (firstHit == null) {
      assertSays(placed.size(), what);
      return;
    }
    boolean proof = false;
    for (Placed record : placed) {
      boolean whole = !differs(record);
      boolean startGone =
          whole
              && record.segment().equals(firstHit.segment())
              && record.sequence() > firstHit.sequence()
              && isStart(firstHit);
      proof |= whole && (record.forced() >= firstHit.sequence() || startGone);
    }
    if (proof) {
      assertThatThrownBy(() -> WalReplay.read(broken, 0))
          .as(what)
          .isInstanceOf(WalCorruptException.class);
    } else {
      assertSays((int) firstHit.sequence() - 1, what);
    }
  }

  private boolean isStart(Placed record) {
    return placed.stream()
        .noneMatch(p -> p.segment().equals(record.segment()) && p.sequence() < record.sequence());
  }

  private boolean differs(Placed record) throws IOException {
    int length = (int) (record.end() - record.position());
    byte[] now = readAt(record.segment(), record.position(), length);
    try (FileChannel file =
        FileChannel.open(record.segment().dataFile(clean), StandardOpenOption.READ)) {
      ByteBuffer was = ByteBuffer.allocate(length);
      file.read(was, record.position());
      return !java.util.Arrays.equals(now, was.array());
    }
  }

  private void assertSays(int record, String what) {
    WalReplay replay = WalReplay.read(broken, 0);
    LogModel model = models.get(record);
    assertThat(replay.entries()).as(what).isEqualTo(model.entries());
    assertThat(replay.hardState()).as(what).isEqualTo(model.state());
    assertThat(replay.lastSequence()).as(what).isEqualTo(record);
  }

  private byte[] readAt(SegmentName name, long position, int length) throws IOException {
    try (FileChannel file = FileChannel.open(name.dataFile(broken), StandardOpenOption.READ)) {
      ByteBuffer bytes = ByteBuffer.allocate(length);
      file.read(bytes, position);
      return bytes.array();
    }
  }

  private void writeAt(SegmentName name, long position, byte[] bytes) throws IOException {
    try (FileChannel file = FileChannel.open(name.dataFile(broken), StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(bytes), position);
    }
  }
}
