package io.troupe.node.offline;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.PutRequest;
import io.troupe.machine.CommittedReplay;
import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.persistence.backup.BackupLog;
import io.troupe.persistence.backup.Backups;
import io.troupe.persistence.backup.DirectoryTarget;
import io.troupe.persistence.backup.LogPart;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.protocol.codec.OperationCodec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands on backups with a log: entries 1 to 20 of two terms, backups at 6 and 14, log files
 * 5-9, 8-14, 15-20. Odd entries are puts, the others change no revision.
 */
class PointInTimeTest {
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 1, 64, 0);
  private static final long CLUSTER = 0xc1;
  private static final Instant START = Instant.parse("2026-11-26T03:00:00Z");
  private static final String MEMBERS = "a=http://127.0.0.1:1,b=http://127.0.0.1:2";

  private final Path dir;
  private final Path target;
  private final List<Entry> entries = new ArrayList<>();
  private final PrintStream out = System.out;
  private final PrintStream err = System.err;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private int restores;

  PointInTimeTest(@TempDir Path temp) {
    dir = temp;
    target = temp.resolve("target");
  }

  @BeforeEach
  void backups() throws IOException {
    for (long index = 1; index <= 20; index++) {
      entries.add(entry(index));
    }
    Backups backups = new Backups(new DirectoryTarget(target));
    BackupLog log = new BackupLog(new DirectoryTarget(target));
    BackupLog.End end = log.begin(CLUSTER, 4, 1);
    BackupLog.End first = log.append(end, part(5, 9));
    log.append(new BackupLog.End(end.stream(), 5, 7, 1), part(8, 14));
    log.append(new BackupLog.End(end.stream(), 5, 14, 2), part(15, 20));
    assertThat(first.last()).isEqualTo(9);
    for (long index : List.of(6L, 14L)) {
      Path state = dir.resolve("state" + index);
      Path checkpoint = dir.resolve("checkpoint" + index);
      try (RocksStore store = RocksStore.open(state, SMALL)) {
        long revision = replay(store, index, Long.MAX_VALUE);
        store.checkpoint(checkpoint);
        backups.write(
            checkpoint, new Backups.Origin(time(index), CLUSTER, 1, index, term(index), revision));
      }
    }
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    System.setErr(System.out);
  }

  @AfterEach
  void reset() {
    System.setOut(out);
    System.setErr(err);
  }

  private static long term(long index) {
    return index < 10 ? 1 : 2;
  }

  private static Instant time(long index) {
    return START.plusSeconds(index);
  }

  private static Entry entry(long index) {
    Bytes data;
    if (index == 1 || index == 10) {
      return new Entry(term(index), index, Entry.Kind.NOOP, Bytes.EMPTY);
    }
    RequestId id = new RequestId(index);
    if (index % 2 == 1) {
      PutRequest put =
          PutRequest.newBuilder()
              .setKey(ByteString.copyFromUtf8("key" + index % 5))
              .setValue(ByteString.copyFromUtf8("value" + index))
              .build();
      data =
          OperationCodec.embed(
              id,
              Requester.ANONYMOUS,
              OperationCodec.ClientRequest.PUT,
              Bytes.wrap(put.toByteArray()));
    } else {
      data = OperationCodec.encode(id, new Operation.LeaseGrant(index, 1000));
    }
    return new Entry(term(index), index, Entry.Kind.OPERATION, data);
  }

  private LogPart part(long first, long last) {
    return new LogPart(
        CLUSTER,
        term(first - 1),
        time(last),
        revisionAfter(last),
        entries.subList((int) first - 1, (int) last));
  }

  private static long revisionAfter(long index) {
    // The first revision of a state is 1; entry 1 is no put.
    return 1 + (index - 1) / 2;
  }

  /** Applies entries up to an index, or to the one that makes a revision; returns the revision. */
  private long replay(RocksStore store, long lastIndex, long lastRevision) {
    try (StateMachine machine = new StateMachine(store, 1 << 20)) {
      CommittedReplay.apply(
          machine,
          lastIndex,
          new CommittedReplay.Log() {
            @Override
            public List<Entry> read(long from, long until) {
              return entries.subList((int) from - 1, (int) until - 1);
            }

            @Override
            public DecodedOperation decode(Entry entry) {
              return OperationCodec.decode(entry.data());
            }

            @Override
            public boolean isLast(Entry entry, long revision) {
              return revision >= lastRevision;
            }
          });
      return machine.currentRevision();
    }
  }

  private int run(String... args) {
    printed.reset();
    List<String> all = new ArrayList<>(List.of("backup"));
    all.addAll(List.of(args));
    return OfflineCommands.run(all.toArray(String[]::new));
  }

  private String printed() {
    return printed.toString(StandardCharsets.UTF_8);
  }

  private Path output() {
    return dir.resolve("restored" + restores);
  }

  private int restore(String... more) {
    restores++;
    List<String> args =
        new ArrayList<>(
            List.of(
                "restore",
                "--from=" + target,
                "--initial-cluster=" + MEMBERS,
                "--output=" + output()));
    args.addAll(List.of(more));
    return run(args.toArray(String[]::new));
  }

  /** Both members have the state after the entry. */
  private void assertRestored(long index, String... more) {
    assertThat(restore(more)).as(printed()).isZero();
    String expected;
    try (RocksStore store = RocksStore.open(dir.resolve("expected" + restores), SMALL)) {
      long unused = replay(store, index, Long.MAX_VALUE);
      try (StateMachine machine = new StateMachine(store, 1 << 20)) {
        // A restore ends with an empty entry.
        machine.noop(index + 1, term(index));
        machine.commit();
        expected = text(machine);
      }
    }
    for (String member : List.of("a", "b")) {
      try (DataDir files = DataDir.open(output().resolve(member));
          RocksStore store = RocksStore.open(files.state(), SMALL);
          StateMachine machine = new StateMachine(store, 1 << 20)) {
        assertThat(text(machine)).as("member %s, entry %d", member, index).isEqualTo(expected);
        assertThat(machine.view().peerUrls()).hasSize(2);
      }
    }
  }

  private static String text(StateMachine machine) {
    return "index "
        + machine.appliedIndex()
        + ", revision "
        + machine.currentRevision()
        + ", digest "
        + machine.digest()
        + ", hash "
        + machine.reader().hash(0);
  }

  @Test
  void everyRevisionSinceTheOldestBackupIsReached() {
    for (long revision = revisionAfter(7); revision <= revisionAfter(20); revision++) {
      if (revision == revisionAfter(14)) {
        // The backup has the entry after the put too, which makes no revision.
        assertRestored(14, "--revision=" + revision);
      } else {
        // The put that makes the revision.
        assertRestored(2 * revision - 1, "--revision=" + revision);
      }
    }
    assertRestored(6, "--revision=" + revisionAfter(6));
  }

  @Test
  void momentIsReachedUpToTheLogFileBeforeIt() {
    assertRestored(6, "--time=" + time(6));
    assertRestored(6, "--time=" + time(8));
    assertRestored(9, "--time=2026-11-26T04:00:09+01:00");
    assertRestored(14, "--time=" + time(19));
    assertRestored(20, "--time=" + time(20));
    assertRestored(20, "--time=" + time(500));
  }

  @Test
  void newestStateIsTheDefaultAndAnIdIsTheBackupAlone() {
    assertRestored(20);
    assertThat(printed())
        .contains("and 6 entries of the log after it", "revision 10 of " + time(20));
    String id = "20261126T030006Z-6";
    assertRestored(6, "--id=" + id);
    assertRestored(13, "--id=" + id, "--revision=" + revisionAfter(13));
    assertRestored(20, "--id=" + id, "--time=" + time(100));
  }

  @Test
  void goalThatCannotBeReachedLeavesNothing() {
    assertThat(restore("--revision=11")).isOne();
    assertThat(printed()).contains("cannot reach revision 11", "end at revision 10");
    assertThat(output().resolve("a")).doesNotExist();
    assertThat(restore("--revision=2")).isOne();
    assertThat(printed()).contains("cannot go back to revision 2", "has revision 3");
    assertThat(restore("--time=" + time(5))).isOne();
    assertThat(printed()).contains("cannot go back to " + time(5));
    for (List<String> wrong :
        List.of(
            List.of("--revision=4", "--time=" + time(9)),
            List.of("--revision=0"),
            List.of("--time=yesterday"))) {
      assertThat(restore(wrong.toArray(String[]::new)))
          .as("%s", wrong)
          .isEqualTo(CommandException.BAD_ARGUMENTS);
      assertThat(printed()).as("%s", wrong).contains("expected");
    }
  }

  @Test
  void listAndVerifyShowHowFarTheLogReaches() {
    assertThat(run("list", "--from=" + target)).isZero();
    assertThat(printed().lines())
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).endsWith(", 10, " + time(20)));
    assertThat(run("list", "--from=" + target, "-w=json")).isZero();
    assertThat(printed()).contains("\"logRevision\":10", "\"logTime\":\"" + time(20) + "\"");
    assertThat(run("verify", "--from=" + target, "--id=20261126T030006Z-6")).isZero();
    assertThat(printed())
        .contains("is complete", "3 files, up to entry 20, revision 10, " + time(20));
  }

  @Test
  void damagedLogIsFound() throws IOException {
    Path file;
    try (Stream<Path> logs = Files.list(target.resolve("logs"))) {
      file = logs.sorted().skip(1).findFirst().orElseThrow();
    }
    byte[] content = Files.readAllBytes(file);
    content[content.length / 2] ^= 1;
    Files.write(file, content);
    assertThat(run("verify", "--from=" + target)).as("the newest does not need it").isZero();
    assertThat(run("verify", "--from=" + target, "--id=20261126T030006Z-6")).isOne();
    assertThat(printed()).contains(file.getFileName() + ": checksum mismatch");
    assertThat(restore("--revision=6")).isOne();
    assertThat(printed()).contains("checksum mismatch");
    assertThat(output().resolve("a")).doesNotExist();
    assertRestored(9, "--revision=" + revisionAfter(9));
    assertRestored(20);
  }

  /** A gap ends the log of the backups before it. */
  @Test
  void missingFileEndsTheLog() throws IOException {
    try (Stream<Path> logs = Files.list(target.resolve("logs"))) {
      Files.delete(logs.sorted().skip(1).findFirst().orElseThrow());
    }
    assertThat(restore("--revision=6")).isOne();
    assertThat(printed()).contains("end at revision 5");
    assertRestored(9, "--revision=" + revisionAfter(9));
    assertRestored(20);
  }
}
