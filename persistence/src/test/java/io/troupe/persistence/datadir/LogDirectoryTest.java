package io.troupe.persistence.datadir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DataDirException.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log in a directory of its own. */
class LogDirectoryTest {
  private static final MemberIdentity IDENTITY =
      new MemberIdentity(
          0xcdf818194e3a8c32L,
          new NodeId(0x8e9e05c52164694dL),
          "node one",
          List.of("http://127.0.0.1:2380"),
          "0.1.0");
  private static final MemberIdentity OTHER =
      new MemberIdentity(7, new NodeId(8), "other", List.of("http://127.0.0.1:1"), "0.1.0");

  private final Path data;
  private final Path log;

  LogDirectoryTest(@TempDir Path temp) {
    this.data = temp.resolve("data");
    this.log = temp.resolve("disk/log");
  }

  /** A member whose log is in {@link #log} and was started. */
  private void member() throws IOException {
    try (DataDir dir = DataDir.open(data, log)) {
      dir.bootstrap(IDENTITY);
      assertThat(dir.wal()).isEqualTo(log.resolve("wal")).isDirectory();
      Files.writeString(dir.wal().resolve("segment"), "x");
    }
  }

  private void refused(Reason reason, String text, @Nullable Path walDir) {
    assertThatThrownBy(() -> DataDir.open(data, walDir).close())
        .isInstanceOfSatisfying(
            DataDirException.class, e -> assertThat(e.reason()).as("%s", e).isEqualTo(reason))
        .hasMessageContaining(text);
    // No lock remains.
    if (Files.exists(log.resolve("lock"))) {
      DirectoryLock.acquire(log.resolve("lock")).close();
    }
    DirectoryLock.acquire(data.resolve("lock")).close();
  }

  private static String golden(String name) throws IOException {
    try (InputStream golden = LogDirectoryTest.class.getResourceAsStream("/golden/" + name)) {
      return new String(Objects.requireNonNull(golden).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void logIsInItsDirectoryAndRestInDataDirectory() throws IOException {
    member();
    try (DataDir dir = DataDir.open(data, log)) {
      assertThat(dir.identity()).isEqualTo(IDENTITY);
      assertThat(dir.isLogApart()).isTrue();
      assertThat(dir.wal().resolve("segment")).exists();
      assertThat(dir.state()).isEqualTo(data.resolve("state")).isDirectory();
    }
    assertThat(data.resolve("wal")).doesNotExist();
    assertThat(log.resolve("owner")).hasContent(golden("wal-owner-v1.txt"));
  }

  @Test
  void identityOfVersionTwoRecordsSeparateLog() throws Exception {
    IdentityFile file = new IdentityFile(IDENTITY, "/var/lib/tr oupe");
    assertThat(new String(file.encode(), StandardCharsets.UTF_8))
        .isEqualTo(golden("identity-v2.txt"));
    assertThat(IdentityFile.decode(file.encode())).isEqualTo(file);
    IdentityFile usual = new IdentityFile(IDENTITY, null);
    assertThat(usual.encode()).isEqualTo(IDENTITY.encode());
    assertThat(IdentityFile.decode(usual.encode())).isEqualTo(usual);
  }

  @Test
  void logDirectoryMayBeMoved() throws IOException {
    member();
    Path moved = data.resolveSibling("moved");
    Files.move(log, moved);
    try (DataDir dir = DataDir.open(data, moved)) {
      assertThat(dir.wal().resolve("segment")).exists();
    }
  }

  @Test
  void memberWithSeparateLogDoesNotStartWithoutIt() throws IOException {
    member();
    refused(Reason.LOG_ELSEWHERE, log.toString(), null);
    assertThat(data.resolve("wal")).doesNotExist();
    Files.move(log, log.resolveSibling("moved"));
    refused(Reason.CORRUPT, "see whether its disk is mounted", log);
    assertThat(log).as("nothing is created at a missing mount point").doesNotExist();
    Files.createDirectory(log);
    refused(Reason.CORRUPT, "see whether its disk is mounted", log);
  }

  @Test
  void memberWithLogInDataDirectoryKeepsItThere() {
    try (DataDir dir = DataDir.open(data)) {
      dir.bootstrap(IDENTITY);
    }
    refused(Reason.LOG_ELSEWHERE, "leave wal-dir out", log);
    assertThat(log).doesNotExist();
  }

  @Test
  void rejectsLogOfAnotherMember() throws IOException {
    member();
    Files.write(log.resolve("owner"), LogDirectory.owner(OTHER));
    refused(Reason.FOREIGN, "holds the log of member 8 of cluster 7", log);
    Files.write(log.resolve("owner"), CheckedText.encode(LogDirectory.TITLE, 2, List.of()));
    refused(Reason.WRONG_VERSION, "version 2", log);
    byte[] damaged = LogDirectory.owner(IDENTITY);
    damaged[20] ^= 1;
    Files.write(log.resolve("owner"), damaged);
    refused(Reason.CORRUPT, "checksum", log);
  }

  @Test
  void freshMemberRejectsStartedLog() throws IOException {
    member();
    DurableFiles.deleteTree(data);
    refused(Reason.FOREIGN, "the data directory is fresh", log);
    Files.delete(log.resolve("wal/segment"));
    Files.writeString(log.resolve("notes"), "x");
    refused(Reason.FOREIGN, "notes", log);
  }

  @Test
  void isLockedByOneProcess() throws IOException {
    member();
    Path second = data.resolveSibling("second");
    try (DataDir dir = DataDir.open(data, log)) {
      assertThat(dir.identity()).isNotNull();
      DurableFiles.deleteTree(log.resolve("wal"));
      assertThatThrownBy(() -> DataDir.open(second, log).close())
          .hasMessageContaining("in use by this process");
    }
  }

  /** The owner is written first: a start that stops after it is repeated. */
  @Test
  void crashBeforeIdentityLeavesFreshMember() throws IOException {
    member();
    Files.delete(data.resolve("identity"));
    Files.delete(log.resolve("wal/segment"));
    try (DataDir dir = DataDir.open(data, log)) {
      assertThat(dir.identity()).isNull();
      dir.bootstrap(OTHER);
    }
    try (DataDir dir = DataDir.open(data, log)) {
      assertThat(dir.identity()).isEqualTo(OTHER);
    }
  }
}
