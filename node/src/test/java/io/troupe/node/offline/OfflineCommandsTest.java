package io.troupe.node.offline;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands on a snapshot that etcd 3.7.1 saved. The expected texts are those that etcdutl 3.7.1
 * printed (7.3, SN1, SN2).
 */
class OfflineCommandsTest {
  private static final String PEER = "http://127.0.0.1:2380";

  private final Path dir;
  private final Path file;
  private final PrintStream out = System.out;
  private final PrintStream err = System.err;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

  OfflineCommandsTest(@TempDir Path temp) throws IOException {
    dir = temp;
    file = temp.resolve("saved.db");
    try (InputStream in = new GZIPInputStream(resource("etcd-3.7.1.db.gz"))) {
      Files.copy(in, file);
    }
  }

  private static InputStream resource(String name) {
    return Objects.requireNonNull(
        OfflineCommandsTest.class.getResourceAsStream("/golden/" + name), name);
  }

  @BeforeEach
  void capture() {
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void restore() {
    System.setOut(out);
    System.setErr(err);
  }

  private String errors() {
    return errors.toString(StandardCharsets.UTF_8);
  }

  private int restore(Path snapshot, Path dataDir, String... more) {
    List<String> args = new ArrayList<>();
    args.addAll(List.of("snapshot", "restore", snapshot.toString(), "--data-dir=" + dataDir));
    args.addAll(List.of("--initial-cluster=default=" + PEER));
    args.addAll(List.of("--initial-advertise-peer-urls=" + PEER));
    args.addAll(List.of(more));
    return OfflineCommands.run(args.toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"simple", "json", "fields", "table"})
  void statusPrintsWhatEtcdutlPrints(String form) throws IOException {
    assertThat(OfflineCommands.run("snapshot", "status", file.toString(), "-w", form)).isZero();
    try (InputStream expected = resource("etcdutl-status." + form)) {
      assertThat(printed.toString(StandardCharsets.UTF_8))
          .isEqualTo(new String(expected.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "snapshot status",
        "snapshot restore",
        "hashkv",
        "migrate",
        "defrag",
        "wal dump",
        "wal verify",
        "data check"
      })
  void eachCommandHasHelp(String command) {
    String[] args = (command + " --help").split(" ", -1);
    assertThat(OfflineCommands.isCommand(args)).isTrue();
    assertThat(OfflineCommands.run(args)).as(errors()).isZero();
    assertThat(printed.toString(StandardCharsets.UTF_8)).startsWith("Usage: ctl " + command);
  }

  @ParameterizedTest
  @ValueSource(strings = {"simple", "json", "fields", "table"})
  void hashkvPrintsWhatEtcdutlPrints(String form) throws IOException {
    assertThat(OfflineCommands.run("hashkv", file.toString(), "--rev", "8", "-w", form)).isZero();
    try (InputStream expected = resource("etcdutl-hashkv." + form)) {
      assertThat(printed.toString(StandardCharsets.UTF_8))
          .isEqualTo(new String(expected.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @Test
  void wrongArgumentsOfHashkvHaveEtcdutlsTextsAndCodes() {
    assertThat(OfflineCommands.run("hashkv")).isEqualTo(1);
    assertThat(OfflineCommands.run("hashkv", "absent")).isEqualTo(1);
    assertThat(OfflineCommands.run("hashkv", file.toString(), "--rev=100")).isEqualTo(1);
    assertThat(OfflineCommands.run("hashkv", file.toString(), "--rev=3")).isEqualTo(1);
    assertThat(OfflineCommands.run("hashkv", file.toString(), "-w=protobuf")).isEqualTo(4);
    assertThat(OfflineCommands.run("hashkv", file.toString(), "--timeout=x")).isEqualTo(128);
    assertThat(errors().lines())
        .containsExactly(
            "Error: accepts 1 arg(s), received 0",
            "Error: stat absent: no such file or directory",
            "Error: mvcc: required revision is a future revision",
            "Error: mvcc: required revision has been compacted",
            "Error: protobuf not supported as output format",
            "Error: invalid argument \"x\" for \"--timeout\" flag: time: invalid duration \"x\"");
  }

  @Test
  void databaseInUseIsAwaitedForTheTimeout() {
    DatabaseLock.C library = Native.load("c", DatabaseLock.C.class);
    int holder = library.open(file.toString(), 0);
    library.flock(holder, 2);
    try {
      assertThat(OfflineCommands.run("hashkv", file.toString(), "--timeout=1ms")).isEqualTo(1);
      assertThat(errors()).contains("Error: " + file + " is locked by another process");
    } finally {
      library.close(holder);
    }
    assertThat(OfflineCommands.run("hashkv", file.toString(), "--timeout=0")).isZero();
  }

  @Test
  void wrongArgumentsHaveEtcdutlsTextsAndCodes() {
    assertThat(OfflineCommands.run("snapshot", "status")).isEqualTo(128);
    assertThat(OfflineCommands.run("snapshot", "restore")).isEqualTo(128);
    assertThat(OfflineCommands.run("snapshot", "status", "absent")).isEqualTo(1);
    assertThat(OfflineCommands.run("snapshot", "status", file.toString(), "-w=x")).isEqualTo(4);
    assertThat(restore(file, dir.resolve("d"), "--bump-revision=5")).isEqualTo(128);
    assertThat(restore(file, dir.resolve("d"), "--name=other")).isEqualTo(1);
    assertThat(restore(file, dir.resolve("d"), "--initial-advertise-peer-urls=http://b:1"))
        .isEqualTo(1);
    assertThat(errors().lines())
        .containsExactly(
            "Error: snapshot status requires exactly one argument",
            "Error: snapshot restore requires exactly one argument",
            "Error: stat absent: no such file or directory",
            "Error: unsupported output format",
            "Error: --mark-compacted required if --revision-bump > 0",
            "Error: couldn't find local name \"other\" in the initial cluster configuration",
            "Error: --initial-cluster has default=http://127.0.0.1:2380 but missing from"
                + " --initial-advertise-peer-urls=http://b:1");
    assertThat(dir.resolve("d")).doesNotExist();
  }

  @Test
  void restoreBuildsTheMemberOfTheNewCluster_SN2() {
    Path data = dir.resolve("data");
    assertThat(restore(file, data, "--initial-cluster-token=t")).isZero();
    assertThat(errors()).contains("11 records, revision 12, compacted revision 6");
    try (DataDir opened = DataDir.open(data)) {
      MemberIdentity identity = Objects.requireNonNull(opened.identity());
      assertThat(identity.name()).isEqualTo("default");
      assertThat(identity.peerUrls()).containsExactly(PEER);
      assertThat(identity.members()).hasSize(1);
    }
  }

  @Test
  void usedDirectoryIsRefused_SN2() throws IOException {
    Path data = dir.resolve("data");
    Files.createDirectory(data);
    Files.writeString(data.resolve("file"), "mine");
    assertThat(restore(file, data)).isEqualTo(1);
    assertThat(restore(file, dir.resolve("d"), "--wal-dir=" + data)).isEqualTo(1);
    assertThat(errors().lines())
        .containsExactly(
            "Error: data-dir \"" + data + "\" not empty or could not be read",
            "Error: wal-dir \"" + data + "\" exists");
    assertThat(data.resolve("file")).hasContent("mine");
    assertThat(dir.resolve("d")).doesNotExist();
  }

  @Test
  void damagedFileLeavesNothingBehind_SN1() throws IOException {
    byte[] whole = Files.readAllBytes(file);
    Path bad = dir.resolve("bad.db");
    Path data = dir.resolve("data");
    Files.createDirectory(data);
    Files.write(bad, Arrays.copyOf(whole, 20_480));
    assertThat(restore(bad, data)).isEqualTo(1);
    assertThat(errors()).contains("Error: snapshot missing hash but --skip-hash-check=false");
    assertThat(restore(bad, data, "--skip-hash-check")).isEqualTo(1);
    assertThat(errors()).contains(bad + " is damaged: the file is incomplete: page");
    whole[30_000] ^= 1;
    Files.write(bad, whole);
    assertThat(restore(bad, data, "--wal-dir=" + dir.resolve("wal"))).isEqualTo(1);
    assertThat(errors()).contains("Error: expected sha256 [").contains("], got [");
    assertThat(data).isEmptyDirectory();
    assertThat(dir.resolve("wal")).doesNotExist();
  }

  @Test
  void logMayHaveItsOwnDirectory() {
    Path wal = dir.resolve("wal");
    assertThat(restore(file, dir.resolve("data"), "--wal-dir=" + wal)).isZero();
    assertThat(wal.resolve("wal")).isNotEmptyDirectory();
    try (DataDir opened = DataDir.open(dir.resolve("data"), wal)) {
      assertThat(opened.isLogApart()).isTrue();
    }
  }
}
