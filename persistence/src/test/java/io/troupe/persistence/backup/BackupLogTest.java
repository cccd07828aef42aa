package io.troupe.persistence.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.persistence.backup.BackupLog.End;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log in a target: streams without gaps and forks, and what remains of it. */
class BackupLogTest {
  private static final long CLUSTER = 0xc1;
  private static final Instant START = Instant.parse("2026-11-26T03:04:05.678Z");

  private final Path store;
  private final BackupLog log;

  BackupLogTest(@TempDir Path temp) {
    store = temp.resolve("store");
    log = new BackupLog(new DirectoryTarget(store));
  }

  private static Entry entry(long term, long index) {
    return new Entry(term, index, Entry.Kind.OPERATION, Bytes.utf8("entry " + index));
  }

  /** Entries of one term. */
  private static LogPart part(long previousTerm, long term, long first, long last) {
    return new LogPart(
        CLUSTER,
        previousTerm,
        START.plusSeconds(last),
        last + 100,
        LongStream.rangeClosed(first, last).mapToObj(index -> entry(term, index)).toList());
  }

  private static BackupManifest backup(long index, long term) {
    return new BackupManifest(START, CLUSTER, 0xd2, index, term, index + 100, List.of());
  }

  private static List<Long> indexes(Continuation continuation) {
    List<Long> indexes = new ArrayList<>();
    continuation.read(
        (entries, part) -> {
          entries.forEach(entry -> indexes.add(entry.index()));
          return true;
        });
    return indexes;
  }

  private static List<Long> range(long first, long last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(store.resolve("logs"))) {
      return files.sorted().toList();
    }
  }

  @Test
  void streamIsContinuedWhereItEnds() {
    assertThat(log.newest(CLUSTER)).isNull();
    End end = log.begin(CLUSTER, 10, 2);
    assertThat(log.newest(CLUSTER)).as("no file yet").isNull();
    end = log.append(end, part(2, 2, 11, 13));
    end = log.append(end, part(2, 3, 14, 20));
    assertThat(log.newest(CLUSTER)).isEqualTo(end);
    assertThat(end.first()).isEqualTo(11);
    assertThat(end.last()).isEqualTo(20);
    assertThat(end.lastTerm()).isEqualTo(3);
    assertThat(log.newest(0xee)).as("of another cluster").isNull();
    assertThat(log.begin(CLUSTER, 30, 3).stream()).isGreaterThan(end.stream());
  }

  /** A gap or a fork in a stream is a defect of its writer. */
  @Test
  void partMustContinueItsStream() {
    End end = log.append(log.begin(CLUSTER, 10, 2), part(2, 2, 11, 13));
    for (LogPart wrong : List.of(part(2, 2, 15, 16), part(2, 2, 13, 16), part(1, 2, 14, 16))) {
      assertThatThrownBy(() -> log.append(end, wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("does not continue");
    }
    assertThatThrownBy(() -> new LogPart(CLUSTER, 2, START, 0, List.of(entry(2, 11), entry(2, 13))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new LogPart(CLUSTER, 2, START, 0, List.of(entry(2, 11), entry(1, 12))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void entriesAfterABackupAreReadOnceAndInOrder() {
    End end = log.append(log.begin(CLUSTER, 10, 2), part(2, 2, 11, 13));
    log.append(end, part(2, 3, 14, 20));
    // Of another leader, which wrote at the same time.
    log.append(end, part(2, 3, 14, 17));
    assertThat(indexes(log.after(backup(10, 2)))).isEqualTo(range(11, 20));
    Continuation after = log.after(backup(12, 2));
    assertThat(indexes(after)).isEqualTo(range(13, 20));
    assertThat(after.reach()).isEqualTo(new Continuation.Reach(20, 120, START.plusSeconds(20)));
    assertThat(indexes(log.after(backup(20, 3)))).isEmpty();
    assertThat(log.after(backup(20, 3)).reach()).isEqualTo(new Continuation.Reach(20, 120, START));
  }

  @Test
  void backupBeforeAGapReachesUpToTheGap() {
    log.append(log.begin(CLUSTER, 10, 2), part(2, 2, 11, 13));
    log.append(log.begin(CLUSTER, 20, 2), part(2, 2, 21, 25));
    assertThat(indexes(log.after(backup(11, 2)))).isEqualTo(range(12, 13));
    assertThat(indexes(log.after(backup(15, 2)))).isEmpty();
    assertThat(indexes(log.after(backup(20, 2)))).isEqualTo(range(21, 25));
  }

  /** A member that became the only one of its cluster repeats indexes, in a higher term. */
  @Test
  void eachHistoryHasItsOwnLog() {
    log.append(log.begin(CLUSTER, 10, 2), part(2, 2, 11, 30));
    log.append(log.begin(CLUSTER, 14, 5), part(5, 5, 15, 20));
    assertThat(indexes(log.after(backup(14, 2)))).isEqualTo(range(15, 30));
    assertThat(indexes(log.after(backup(14, 5)))).isEqualTo(range(15, 20));
    assertThat(indexes(log.after(backup(16, 5)))).isEqualTo(range(17, 20));
    assertThat(indexes(log.after(backup(16, 4)))).isEmpty();
  }

  @Test
  void forkInsideAStreamIsRefused() {
    End end = log.append(log.begin(CLUSTER, 10, 2), part(2, 2, 11, 20));
    log.append(end, part(2, 2, 21, 25));
    log.append(new End(end.stream(), 11, 23, 4), part(4, 4, 24, 30));
    assertThatThrownBy(() -> indexes(log.after(backup(10, 2))))
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("does not continue entry 25 of term 2");
  }

  @Test
  void damagedFilesAreFound() throws IOException {
    End end = log.append(log.begin(CLUSTER, 10, 2), part(2, 2, 11, 13));
    log.append(end, part(2, 2, 14, 16));
    Continuation after = log.after(backup(10, 2));
    Path file = files().get(1);
    byte[] whole = Files.readAllBytes(file);
    for (int at = 0; at < whole.length; at++) {
      byte[] damaged = whole.clone();
      damaged[at] ^= 1;
      Files.write(file, damaged);
      assertThatThrownBy(() -> indexes(after))
          .as("byte %d", at)
          .isInstanceOf(BackupException.class);
    }
    for (int length = 0; length < whole.length; length++) {
      Files.write(file, Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> indexes(after))
          .as("length %d", length)
          .isInstanceOf(BackupException.class)
          .hasMessageContaining(String.valueOf(file.getFileName()));
    }
    assertThat(log.newest(CLUSTER)).as("is not continued").isNull();
    assertThat(log.begin(CLUSTER, 20, 2).stream()).isGreaterThan(end.stream());
    Files.copy(files().get(0), file, StandardCopyOption.REPLACE_EXISTING);
    assertThatThrownBy(() -> indexes(after)).hasMessageContaining("content of another file");
  }

  @Test
  void partThatTheTargetChangesIsNoSuccess() throws IOException {
    End end = log.begin(CLUSTER, 10, 2);
    for (int cut : List.of(0, 1, 40)) {
      BackupLog cutting = new BackupLog(new CuttingTarget(new DirectoryTarget(store), cut));
      assertThatThrownBy(() -> cutting.append(end, part(2, 2, 11, 13)))
          .isInstanceOf(BackupException.class)
          .hasMessageContaining("has other bytes than written");
    }
    log.append(end, part(2, 2, 11, 13));
    assertThat(indexes(log.after(backup(10, 2)))).isEqualTo(range(11, 13));
  }

  /** Stores less, or one byte more if the cut is 0. */
  private record CuttingTarget(BackupTarget target, int cut) implements BackupTarget {
    @Override
    public List<String> list(String folder) throws IOException {
      return target.list(folder);
    }

    @Override
    public boolean has(String name) throws IOException {
      return target.has(name);
    }

    @Override
    public void write(String name, Content content) throws IOException {
      try (InputStream in = content.open()) {
        byte[] whole = in.readAllBytes();
        byte[] stored = Arrays.copyOf(whole, cut == 0 ? whole.length + 1 : whole.length - cut);
        target.write(name, () -> new ByteArrayInputStream(stored));
      }
    }

    @Override
    public InputStream read(String name) throws IOException {
      return target.read(name);
    }

    @Override
    public void delete(String name) throws IOException {
      target.delete(name);
    }

    @Override
    public String text() {
      return target.text();
    }
  }

  @Test
  void otherNamesDoNotCount() throws IOException {
    End end = log.append(log.begin(CLUSTER, 10, 2), part(2, 2, 11, 13));
    Files.writeString(store.resolve("logs/README"), "x");
    Files.writeString(store.resolve("logs/" + end.stream() + ".log.new"), "x");
    assertThat(log.newest(CLUSTER)).isEqualTo(end);
  }

  @Test
  void logThatNoBackupNeedsIsDeleted(@TempDir Path content) throws IOException {
    Files.writeString(content.resolve("CURRENT"), "1");
    Backups backups = new Backups(new DirectoryTarget(store));
    End end = log.begin(CLUSTER, 10, 2);
    for (long first = 11; first < 50; first += 10) {
      backups.write(
          content, new Backups.Origin(START.plusSeconds(first), CLUSTER, 1, first + 1, 2, first));
      end = log.append(end, part(2, 2, first, first + 9));
    }
    log.append(log.begin(0xee, 1, 1), new LogPart(0xee, 1, START, 0, List.of(entry(1, 2))));
    assertThat(files()).hasSize(5);
    assertThat(backups.retain(CLUSTER, 2)).hasSize(2);
    assertThat(files()).as("two of the cluster, one of another").hasSize(3);
    assertThat(log.after(backups.list()).stream().map(BackupLogTest::indexes))
        .containsExactly(range(43, 50), range(33, 50));
  }

  private static String text(byte[] content) {
    return new String(content, StandardCharsets.UTF_8).replaceAll("\\s", "");
  }

  /** Logs that exist must stay readable: a change of these bytes is a new version. */
  @Test
  void goldenFile() throws IOException {
    LogPart part =
        new LogPart(
            CLUSTER,
            2,
            START,
            110,
            List.of(
                new Entry(3, 11, Entry.Kind.NOOP, Bytes.EMPTY),
                entry(3, 12),
                new Entry(3, 13, Entry.Kind.CONF_CHANGE, Bytes.utf8("change"))));
    log.append(log.begin(CLUSTER, 10, 2), part);
    Path file = files().get(0);
    assertThat(file)
        .hasFileName(
            "00000000000000c1-00000001-000000000000000b.000000000000000b-000000000000000d.log");
    String name = "golden/backup-log-v1.hex";
    try (InputStream golden = BackupLogTest.class.getClassLoader().getResourceAsStream(name)) {
      String hex = text(Objects.requireNonNull(golden).readAllBytes());
      assertThat(HexFormat.of().formatHex(Files.readAllBytes(file))).isEqualTo(hex);
      assertThat(LogPart.decode(name, HexFormat.of().parseHex(hex))).isEqualTo(part);
    }
  }
}
