package io.troupe.node.offline;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.persistence.wal.WalSettings;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on the data directory of a stopped member. */
class StoppedMemberTest {
  private static final String PEER = "http://127.0.0.1:2380";

  private final Path dir;
  private final Path data;
  private final PrintStream out = System.out;
  private final PrintStream err = System.err;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

  StoppedMemberTest(@TempDir Path temp) {
    dir = temp;
    data = temp.resolve("data");
  }

  /** A restored member with four more entries in its log, of which one is not committed. */
  @BeforeEach
  void make() throws IOException {
    Path saved = dir.resolve("saved.db");
    try (InputStream in =
        new GZIPInputStream(
            Objects.requireNonNull(getClass().getResourceAsStream("/golden/etcd-3.7.1.db.gz")))) {
      Files.copy(in, saved);
    }
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
    assertThat(
            OfflineCommands.run(
                "snapshot",
                "restore",
                saved.toString(),
                "--data-dir=" + data,
                "--initial-cluster=default=" + PEER,
                "--initial-advertise-peer-urls=" + PEER))
        .isZero();
    NodeId added = new NodeId(0xab);
    ConfEntry change =
        new ConfEntry(
            null,
            List.of(new ConfChange(ConfChange.Kind.ADD_LEARNER, added, List.of("http://b:1"))),
            new Membership(4, Set.of(new NodeId(1)), Set.of(added), Set.of(), Set.of(), Set.of()));
    log(
        log ->
            log.append(
                new HardState(3, NodeId.NONE, 4),
                List.of(
                    new Entry(2, 2, Entry.Kind.NOOP, Bytes.EMPTY),
                    new Entry(
                        2,
                        3,
                        Entry.Kind.OPERATION,
                        OperationCodec.encode(
                            new RequestId(9),
                            new Requester.User("clerk", 4),
                            new Operation.LeaseGrant(0x77, 60))),
                    new Entry(2, 4, Entry.Kind.CONF_CHANGE, MembershipCodec.encode(change)),
                    new Entry(
                        3,
                        5,
                        Entry.Kind.OPERATION,
                        OperationCodec.embed(
                            new RequestId(9),
                            Requester.ANONYMOUS,
                            OperationCodec.ClientRequest.PUT,
                            Bytes.of(10, 1, 'k', 18, 2, 'v', 'v'))))));
    printed.reset();
    errors.reset();
  }

  @AfterEach
  void restore() {
    System.setOut(out);
    System.setErr(err);
  }

  private void log(Consumer<ChronicleWal> change) {
    try (DataDir files = DataDir.open(data);
        ChronicleWal log =
            ChronicleWal.open(files.wal(), WalSettings.DEFAULT, WalReplay.read(files.wal(), 0))) {
      change.accept(log);
      log.sync();
    }
  }

  private int run(String... args) {
    List<String> all = Stream.concat(Stream.of(args), Stream.of("--data-dir=" + data)).toList();
    return OfflineCommands.run(all.toArray(String[]::new));
  }

  private String printed() {
    return printed.toString(StandardCharsets.UTF_8);
  }

  private String errors() {
    return errors.toString(StandardCharsets.UTF_8);
  }

  private static Path only(Path directory, String end) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(file -> file.toString().endsWith(end) && !isEmpty(file))
          .sorted()
          .findFirst()
          .orElseThrow();
    }
  }

  private static boolean isEmpty(Path file) {
    return file.toFile().length() == 0;
  }

  private static void flip(Path file, long at) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.seek(at);
      int old = open.read();
      open.seek(at);
      open.write(old ^ 0x55);
    }
  }

  @Test
  void dumpPrintsEntriesWithoutValues() {
    assertThat(run("wal", "dump")).as(errors()).isZero();
    List<String> lines = printed().lines().toList();
    assertThat(lines.get(0))
        .contains("first-index=2 last-index=5 term=3 vote=0 commit=4")
        .startsWith("# segments=");
    assertThat(lines.subList(1, lines.size()))
        .containsExactly(
            "2\t2\tnoop\t0\t",
            "3\t2\toperation\t25\tlease_grant ID:77 TTL:60 user:clerk",
            "4\t2\tconf-change\t84\tadd-learner ab [http://b:1]",
            "5\t3\toperation\t19\tput key:\"k\" value_size:2\tnot known to be committed");
  }

  @Test
  void dumpIsLimitedAndPrintsJson() {
    assertThat(run("wal", "dump", "--from=3", "--limit=1", "-w", "json")).isZero();
    assertThat(printed())
        .isEqualTo(
            "{\"index\":3,\"term\":2,\"kind\":\"operation\",\"bytes\":25,\"text\":\"lease_grant"
                + " ID:77 TTL:60 user:clerk\",\"committed\":true}\n");
    assertThat(run("wal", "dump", "-w", "table")).isEqualTo(4);
    assertThat(errors()).contains("Error: table not supported as output format");
  }

  @Test
  void verifyReadsEveryRecord() {
    assertThat(run("wal", "verify")).as(errors()).isZero();
    assertThat(printed()).contains("last-index=5").hasLineCount(1);
  }

  @Test
  void damagedLogIsNamedWithItsPosition() throws IOException {
    Path segment = null;
    try (Stream<Path> segments = Files.list(data.resolve("wal"))) {
      segment = segments.sorted().toList().get(1).resolve("19700101F.cq4");
    }
    byte[] content = Files.readAllBytes(segment);
    byte[] needle = "http://b:1".getBytes(StandardCharsets.UTF_8);
    int at = 0;
    while (!new String(content, at, needle.length, StandardCharsets.ISO_8859_1)
        .equals("http://b:1")) {
      at++;
    }
    flip(segment, at);
    String name = Objects.requireNonNull(segment.getParent()).getFileName().toString();
    for (String command : List.of("dump", "verify")) {
      assertThat(run("wal", command)).isEqualTo(1);
    }
    assertThat(errors().lines())
        .hasSize(2)
        .allMatch(
            line ->
                line.startsWith(
                    "Error: the log in "
                        + data.resolve("wal")
                        + " is damaged: log segment "
                        + name
                        + " at byte "));
    assertThat(run("data", "check")).isEqualTo(1);
    assertThat(errors()).contains("Error: " + data + " has 1 problems");
  }

  /** The checksum is right, but the entry is of an unknown version. */
  @Test
  void entryThatCannotBeDecodedIsNamed() {
    log(
        log ->
            log.append(
                new HardState(3, NodeId.NONE, 5),
                List.of(new Entry(3, 6, Entry.Kind.OPERATION, Bytes.of(99, 1)))));
    assertThat(run("wal", "verify")).isEqualTo(1);
    assertThat(errors())
        .contains(
            "Error: entry 6 of the log in "
                + data.resolve("wal")
                + ": operation of unknown format version 99");
  }

  @Test
  void soundDataHasNoProblem() {
    assertThat(run("data", "check")).as(errors()).isZero();
    assertThat(printed())
        .contains("applied index 1, revision 12, compacted revision 6, ")
        .contains(" 6 keys, 1 leases")
        .contains("entries 2 to 5, term 3, commit index 4");
    assertThat(errors()).isEmpty();
  }

  @Test
  void damagedTableIsNamed() throws IOException {
    Path table = only(data.resolve("state"), ".sst");
    flip(table, 20);
    assertThat(run("data", "check")).isEqualTo(1);
    assertThat(errors())
        .contains("table file " + table + " is damaged or unreadable")
        .contains("Error: " + data + " has ");
  }

  @Test
  void brokenRuleIsNamed() {
    try (DataDir files = DataDir.open(data);
        RocksStore store = RocksStore.open(files.state(), StoppedMember.STORE)) {
      StoreBatch batch = new StoreBatch();
      batch.delete(Space.LATEST, Bytes.utf8("key1"));
      store.write(batch);
      store.flush();
    }
    assertThat(run("data", "check")).isEqualTo(1);
    assertThat(errors().lines())
        .containsExactly(
            data.resolve("state") + ": KEY and LATEST have 10 versions, REV has 11",
            data.resolve("state")
                + ": revision 9_0 of REV has no version of key "
                + Bytes.utf8("key1"),
            data.resolve("state")
                + ": key "
                + Bytes.utf8("key1")
                + " is at revision 2, but LATEST has no row",
            data.resolve("state") + ": LATEST has 5 keys, the history has 6 live ones",
            data.resolve("state") + ": the block of keys from  counts 6 live keys, LATEST has 5",
            "Error: " + data + " has 5 problems");
  }

  @Test
  void logThatDoesNotContinueTheStateIsReported() {
    log(log -> log.restartAfter(100));
    assertThat(run("data", "check")).isEqualTo(1);
    assertThat(errors())
        .contains(
            "the state contains the entries up to 1, the log those above 100: the next start needs"
                + " a snapshot");
  }

  @Test
  void directoryInUseOrOfNoMemberIsRefused() {
    try (DataDir held = DataDir.open(data)) {
      assertThat(held.identity()).isNotNull();
      assertThat(run("wal", "verify")).isEqualTo(1);
      assertThat(run("data", "check")).isEqualTo(1);
      assertThat(run("defrag")).isEqualTo(1);
    }
    assertThat(errors().lines())
        .hasSize(3)
        .allMatch(line -> line.startsWith("Error: " + data + " is in use by this process"));
    Path absent = dir.resolve("absent");
    assertThat(OfflineCommands.run("wal", "dump", "--data-dir=" + absent)).isEqualTo(1);
    assertThat(OfflineCommands.run("defrag")).isEqualTo(1);
    assertThat(errors())
        .contains(absent + " is not the data directory of a member: it has no identity")
        .contains("Error: required flag(s) \"data-dir\" not set");
    assertThat(absent).doesNotExist();
  }

  @Test
  void defragKeepsTheState() throws IOException {
    assertThat(run("defrag")).as(errors()).isZero();
    assertThat(errors()).contains(data.resolve("state") + ": ");
    assertThat(run("data", "check")).isZero();
    assertThat(printed()).contains(" 6 keys, 1 leases");
    Path etcd = dir.resolve("etcd");
    Files.createDirectories(etcd.resolve("member/snap"));
    assertThat(OfflineCommands.run("defrag", "--data-dir=" + etcd)).isEqualTo(1);
    assertThat(errors()).contains(etcd + " is a data directory of etcd: use etcdutl defrag");
  }
}
