package io.troupe.persistence.wal;

import static io.troupe.persistence.wal.WalFixture.entries;
import static io.troupe.persistence.wal.WalFixture.open;
import static io.troupe.persistence.wal.WalFixture.segments;
import static io.troupe.persistence.wal.WalFixture.state;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChronicleWalTest {
  private final Path temp;

  ChronicleWalTest(@TempDir Path temp) {
    this.temp = temp;
  }

  private Path dir() {
    return temp.resolve("wal");
  }

  @Test
  void newLogIsEmpty() {
    WalReplay replay = WalReplay.read(dir(), 0);
    assertThat(replay.hardState()).isEqualTo(HardState.INITIAL);
    assertThat(replay.entries()).isEmpty();
    assertThat(replay.lastIndex()).isZero();
    assertThat(replay.tornTail()).isNull();
  }

  @Test
  void replaysAppendedEntries() {
    List<Entry> entries = entries(1, 1, 200, 300);
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(1, 7, 0), entries.subList(0, 100));
      wal.append(state(1, 7, 50), entries.subList(100, 200));
      wal.append(state(1, 7, 199), List.of());
      wal.sync();
    }
    WalReplay replay = WalReplay.read(dir(), 0);
    assertThat(replay.hardState()).isEqualTo(state(1, 7, 199));
    assertThat(replay.entries()).isEqualTo(entries);
    assertThat(replay.lastIndex()).isEqualTo(200);
    assertThat(WalReplay.read(dir(), 150).entries()).isEqualTo(entries.subList(150, 200));
    assertThat(WalReplay.read(dir(), 900).entries()).isEmpty();
  }

  @Test
  void laterEntryReplacesEarlierOne() {
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(1, 0, 0), entries(1, 1, 10, 50));
      wal.append(state(2, 0, 0), entries(2, 5, 6, 50));
    }
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(3, 0, 0), entries(3, 7, 7, 50));
      wal.append(state(3, 0, 3), entries(3, 4, 4, 50));
      wal.append(state(3, 0, 3), entries(3, 5, 5, 50));
    }
    LogModel model =
        LogModel.EMPTY
            .append(state(1, 0, 0), entries(1, 1, 3, 50))
            .append(state(3, 0, 3), entries(3, 4, 5, 50));
    assertThat(WalReplay.read(dir(), 0).entries()).isEqualTo(model.entries());
    assertThat(WalReplay.read(dir(), 4).entries()).isEqualTo(model.above(4));
    assertThat(WalReplay.read(dir(), 0).lastIndex()).isEqualTo(5);
  }

  @Test
  void writesNothingWithoutChanges() {
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(1, 2, 3), List.of());
      long records = wal.status().records();
      wal.append(state(1, 2, 3), List.of());
      assertThat(wal.status().records()).isEqualTo(records);
    }
  }

  @Test
  void rejectsEntriesThatDoNotFollow() {
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(1, 0, 0), entries(1, 1, 3, 10));
      HardState same = state(1, 0, 0);
      for (List<Entry> bad :
          List.of(
              entries(1, 5, 5, 10),
              entries(1, 0, 1, 10),
              List.of(entries(1, 4, 4, 1).get(0), entries(1, 6, 6, 1).get(0)),
              List.of(
                  new Entry(
                      1,
                      4,
                      Entry.Kind.OPERATION,
                      Bytes.wrap(new byte[WalSettings.MAX_ENTRY_BYTES + 1]))))) {
        assertThatThrownBy(() -> wal.append(same, bad))
            .isInstanceOf(IllegalArgumentException.class);
      }
      wal.append(same, entries(1, 4, 4, 10));
      wal.sync();
    }
    assertThat(WalReplay.read(dir(), 0).lastIndex()).isEqualTo(4);
  }

  /** For any size of segments: a leader with other settings may have accepted the entry. */
  @Test
  void entryLargerThanSegmentGetsItsOwnSegment() throws IOException {
    List<Entry> all = new ArrayList<>();
    try (ChronicleWal wal = open(dir())) {
      for (int i = 1; i <= 9; i++) {
        byte[] data = new byte[i % 3 == 0 ? 3 << 20 : i % 3 == 1 ? 100 : 120_000];
        Arrays.fill(data, (byte) i);
        Entry entry = new Entry(1, i, Entry.Kind.OPERATION, Bytes.wrap(data));
        all.add(entry);
        wal.append(state(1, 1, i - 1), List.of(entry));
        if (i % 2 == 0) {
          wal.sync();
        }
      }
      wal.sync();
      assertThat(wal.entries(1, 10, Long.MAX_VALUE).read()).isEqualTo(all);
      assertThat(wal.sizeOnDisk()).isLessThan(16 << 20);
      WalFixture.copy(dir(), temp.resolve("killed"));
    }
    assertThat(WalReplay.read(dir(), 0).entries()).isEqualTo(all);
    assertThat(WalReplay.read(temp.resolve("killed"), 0).entries()).isEqualTo(all);
  }

  /** Only the newest committed entries stay in memory, the rest is read in pieces. */
  @Test
  void recoveryKeepsUncommittedEntriesAndFewOthers() {
    LogModel model = LogModel.EMPTY;
    try (ChronicleWal wal = open(dir())) {
      for (long i = 1; i <= 400; i += 4) {
        List<Entry> batch = entries(1, i, i + 3, 3000);
        HardState state = state(1, 1, Math.min(i - 1, 380));
        wal.append(state, batch);
        model = model.append(state, batch);
      }
      wal.sync();
    }
    assertThat(WalReplay.recover(dir(), 100, 0).entries()).isEqualTo(model.above(380));
    WalReplay recent = WalReplay.recover(dir(), 100, 20_000);
    assertThat(recent.entries())
        .isEqualTo(model.above(400 - recent.entries().size()))
        .hasSizeBetween(21, 60);
    List<Entry> streamed = new ArrayList<>();
    while (streamed.size() < 280) {
      long next = 101L + streamed.size();
      List<Entry> piece = recent.entries(dir(), next, 381, 10_000).read();
      assertThat(piece).isNotEmpty();
      streamed.addAll(piece);
    }
    assertThat(streamed).isEqualTo(model.above(100).subList(0, 280));
  }

  @Test
  void rollsAndKeepsOneDataFileAndNothingElsePerClosedSegment() throws IOException {
    LogModel model = LogModel.EMPTY;
    try (ChronicleWal wal = open(dir())) {
      for (long i = 1; i <= 8000; i += 20) {
        List<Entry> batch = entries(1, i, i + 19, 600);
        wal.append(state(1, 1, i), batch);
        wal.sync();
        model = model.append(state(1, 1, i), batch);
      }
      assertThat(wal.status().segments()).isGreaterThan(4);
    }
    assertThat(WalReplay.read(dir(), 0).entries()).isEqualTo(model.entries());
    List<SegmentName> segments = segments(dir());
    for (SegmentName name : segments) {
      try (Stream<Path> files = Files.list(dir().resolve(name.text()))) {
        assertThat(files.map(p -> p.getFileName().toString()))
            .containsExactly(SegmentName.DATA_FILE);
      }
      assertThat(Files.size(name.dataFile(dir())))
          .isLessThanOrEqualTo(WalFixture.SMALL.segmentBytes());
    }
    long total = 0;
    for (SegmentName name : segments) {
      total += Files.size(name.dataFile(dir()));
    }
    try (ChronicleWal wal = open(dir())) {
      assertThat(wal.sizeOnDisk()).isBetween(total, total + (256 << 10));
    }
  }

  @Test
  void splitsBatchLargerThanRecord() {
    List<Entry> large = entries(4, 1, 40, 60_000);
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(4, 2, 40), large);
      wal.sync();
      assertThat(wal.status().segments()).isGreaterThan(3);
    }
    WalReplay replay = WalReplay.read(dir(), 0);
    assertThat(replay.entries()).isEqualTo(large);
    assertThat(replay.hardState()).isEqualTo(state(4, 2, 40));
  }

  @Test
  void removesSegmentsBelowSnapshotAndKeepsHardState() throws IOException {
    LogModel model = LogModel.EMPTY;
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(9, 3, 0), List.of());
      model = model.append(state(9, 3, 0), List.of());
      for (long i = 1; i <= 3000; i += 50) {
        List<Entry> batch = entries(9, i, i + 49, 600);
        wal.append(state(9, 3, 0), batch);
        model = model.append(state(9, 3, 0), batch);
      }
      long before = wal.sizeOnDisk();
      int segments = wal.status().segments();
      wal.dropBefore(1);
      assertThat(wal.status().segments()).isEqualTo(segments);
      wal.dropBefore(2001);
      assertThat(wal.status().segments()).isLessThan(segments);
      assertThat(wal.sizeOnDisk()).isLessThan(before);
    }
    WalReplay replay = WalReplay.read(dir(), 2000);
    assertThat(replay.hardState()).isEqualTo(state(9, 3, 0));
    assertThat(replay.compactedIndex()).isEqualTo(2000);
    assertThat(replay.entries()).isEqualTo(model.above(2000));
    try (ChronicleWal wal = open(dir())) {
      wal.dropBefore(3001);
    }
    assertThat(segments(dir())).hasSize(1);
    replay = WalReplay.read(dir(), 3000);
    assertThat(replay.entries()).isEmpty();
    assertThat(replay.lastIndex()).isEqualTo(3000);
    assertThat(replay.hardState()).isEqualTo(state(9, 3, 0));
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(9, 3, 0), entries(9, 3001, 3001, 10));
    }
    assertThat(WalReplay.read(dir(), 3000).entries()).isEqualTo(entries(9, 3001, 3001, 10));
  }

  @Test
  void continuesAfterSnapshotAheadOfLog() {
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(1, 0, 0), entries(1, 1, 5, 10));
      wal.dropBefore(101);
      assertThatThrownBy(() -> wal.append(state(1, 0, 0), entries(1, 6, 6, 10)))
          .isInstanceOf(IllegalArgumentException.class);
      wal.append(state(2, 0, 100), entries(2, 101, 102, 10));
    }
    WalReplay replay = WalReplay.read(dir(), 100);
    assertThat(replay.entries()).isEqualTo(entries(2, 101, 102, 10));
    assertThat(replay.lastIndex()).isEqualTo(102);
  }

  @Test
  void restartRemovesEntriesAboveSnapshotToo() {
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(1, 0, 0), entries(1, 1, 50, 10));
      wal.restartAfter(20);
    }
    WalReplay replay = WalReplay.read(dir(), 0);
    assertThat(replay.entries()).isEmpty();
    assertThat(replay.lastIndex()).isEqualTo(20);
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(5, 0, 0), entries(5, 21, 22, 10));
    }
    assertThat(WalReplay.read(dir(), 0).entries()).isEqualTo(entries(5, 21, 22, 10));
  }

  /** A crash may preserve any number of the records of one batch. */
  @Test
  void batchOfSeveralRecordsRaisesTermFirstAndCommitIndexLast() throws IOException {
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(1, 3, 5), entries(1, 1, 10, 100));
      wal.append(state(2, 7, 300), entries(2, 8, 400, 3000));
    }
    List<HardState> states = new ArrayList<>();
    int records = 0;
    for (SegmentName name : segments(dir())) {
      for (SegmentScanner.Found found : WalFixture.records(dir(), name)) {
        if (ReplayRun.decode(name, found) instanceof WalPayload.Batch batch) {
          records++;
          if (batch.state() != null) {
            states.add(batch.state());
          }
        }
      }
    }
    assertThat(records).isGreaterThan(4);
    assertThat(states).containsExactly(state(1, 3, 5), state(2, 7, 5), state(2, 7, 300));
  }

  @Test
  void removesSegmentPartlyDeletedByCrash() throws IOException {
    try (ChronicleWal wal = open(dir())) {
      wal.append(state(1, 0, 0), entries(1, 1, 5, 10));
    }
    SegmentName old = segments(dir()).get(0);
    Path saved = temp.resolve("saved");
    WalFixture.copy(dir(), saved);
    try (ChronicleWal wal = open(dir())) {
      wal.dropBefore(6);
    }
    Files.createDirectories(dir().resolve(old.text()));
    assertThat(WalReplay.read(dir(), 5).lastIndex()).isEqualTo(5);
    Files.write(old.dataFile(dir()), new byte[1000]);
    assertThat(WalReplay.read(dir(), 5).lastIndex()).isEqualTo(5);
    open(dir()).close();
    assertThat(dir().resolve(old.text())).doesNotExist();
  }

  @Test
  void staysBrokenAfterFailure() throws IOException {
    ChronicleWal wal = open(dir());
    wal.append(state(1, 0, 0), entries(1, 1, 5, 10));
    wal.sync();
    // The next segment cannot be created because a file occupies the path of the log directory.
    io.troupe.persistence.datadir.DurableFiles.deleteTree(dir());
    Files.writeString(dir(), "in the way");
    WalException first =
        catchThrowableOfType(
            WalException.class,
            () -> {
              for (long i = 6; i < 5000; i++) {
                wal.append(state(1, 0, 0), entries(1, i, i, 600));
              }
            });
    assertThat(first.kind()).isEqualTo(WalException.Kind.IO);
    assertThat(wal.status().broken()).isTrue();
    WalException second = catchThrowableOfType(WalException.class, wal::sync);
    assertThat(second.kind()).isEqualTo(WalException.Kind.BROKEN);
    wal.close();
    assertThat(catchThrowableOfType(WalException.class, wal::sync).kind())
        .isEqualTo(WalException.Kind.CLOSED);
  }

  @Test
  void ignoresLockOfKilledProcess() throws IOException {
    ChronicleWal wal = open(dir());
    wal.append(state(1, 0, 0), entries(1, 1, 5, 10));
    wal.sync();
    Path crashed = temp.resolve("crashed");
    WalFixture.copy(dir(), crashed);
    wal.close();
    SegmentName name = segments(crashed).get(0);
    assertThat(crashed.resolve(name.text()).resolve(SegmentName.TABLE_FILE)).exists();
    try (ChronicleWal next = open(crashed)) {
      assertThat(crashed.resolve(name.text()).resolve(SegmentName.TABLE_FILE)).doesNotExist();
      next.append(state(1, 0, 5), entries(1, 6, 6, 10));
    }
    assertThat(WalReplay.read(crashed, 0).lastIndex()).isEqualTo(6);
  }

  @Test
  void chronicleReaderReturnsSameRecords() throws IOException {
    try (ChronicleWal wal = open(dir())) {
      for (long i = 1; i <= 30; i++) {
        wal.append(state(1, 0, i), entries(1, i, i, 200));
      }
    }
    SegmentName name = segments(dir()).get(0);
    List<SegmentScanner.Found> ours = WalFixture.records(dir(), name);
    int seen = 0;
    try (ChronicleQueue queue =
            SingleChronicleQueueBuilder.binary(dir().resolve(name.text()).toFile())
                .rollCycle(RollCycles.FAST_DAILY)
                .timeProvider(() -> 0L)
                .build();
        ExcerptTailer tailer = queue.createTailer()) {
      while (true) {
        try (DocumentContext document = tailer.readingDocument()) {
          var wire = document.wire();
          if (!document.isPresent() || wire == null) {
            break;
          }
          byte[] bytes = wire.bytes().toByteArray();
          SegmentScanner.Found found = ours.get(seen++);
          assertThat(bytes).hasSize((int) (found.end() - found.position()));
          WalRecord.Header header = WalRecord.header(bytes, 0, name.salt());
          assertThat(header)
              .isNotNull()
              .extracting(WalRecord.Header::sequence)
              .isEqualTo(found.record().sequence());
        }
      }
    }
    assertThat(seen).isEqualTo(ours.size()).isGreaterThan(30);
  }
}
