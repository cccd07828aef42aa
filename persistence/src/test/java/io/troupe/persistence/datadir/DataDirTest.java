package io.troupe.persistence.datadir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DataDirException.Reason;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataDirTest {
  private static final MemberIdentity IDENTITY =
      new MemberIdentity(
          0xcdf818194e3a8c32L,
          new NodeId(0x8e9e05c52164694dL),
          "node one\n\u00e9",
          List.of("http://127.0.0.1:2380", "https://[::1]:2380"),
          "0.1.0");

  private final Path temp;

  DataDirTest(@TempDir Path temp) {
    this.temp = temp;
  }

  @Test
  void bootstrapWritesPermanentIdentity() throws IOException {
    Path root = temp.resolve("a/b");
    try (DataDir dir = DataDir.open(root)) {
      assertThat(dir.identity()).isNull();
      dir.bootstrap(IDENTITY);
      assertThatThrownBy(() -> dir.bootstrap(IDENTITY)).isInstanceOf(IllegalStateException.class);
    }
    try (DataDir dir = DataDir.open(root)) {
      assertThat(dir.identity()).isEqualTo(IDENTITY);
      assertThat(dir.requireMember(IDENTITY.clusterId(), IDENTITY.memberId())).isEqualTo(IDENTITY);
      assertThat(List.of(dir.wal(), dir.state(), dir.snapshots())).allMatch(Files::isDirectory);
    }
    for (Path path : List.of(root, root.resolve("wal"), root.resolve("state"))) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rwx------");
    }
  }

  @Test
  void readsIdentityOfVersionOne() throws Exception {
    try (InputStream golden = DataDirTest.class.getResourceAsStream("/golden/identity-v1.txt")) {
      assertThat(golden).isNotNull();
      byte[] content = golden.readAllBytes();
      assertThat(MemberIdentity.decode(content)).isEqualTo(IDENTITY);
      assertThat(new String(IDENTITY.encode(), StandardCharsets.UTF_8))
          .isEqualTo(new String(content, StandardCharsets.UTF_8));
    }
  }

  @Test
  void identityOfJoiningMemberNamesOtherMembers() throws Exception {
    MemberIdentity joining =
        new MemberIdentity(
            1,
            new NodeId(2),
            "n",
            List.of("http://a:1"),
            true,
            new TreeMap<>(
                Map.of(
                    new NodeId(2),
                    List.of("http://a:1"),
                    new NodeId(-3),
                    List.of("http://b:1", "http://c 1"),
                    new NodeId(4),
                    List.of())),
            "test");
    assertThat(new String(joining.encode(), StandardCharsets.UTF_8))
        .contains(
            "known-member 2 http%3A%2F%2Fa%3A1\n"
                + "known-member 4\n"
                + "known-member fffffffffffffffd http%3A%2F%2Fb%3A1 http%3A%2F%2Fc+1\n");
    assertThat(MemberIdentity.decode(joining.encode())).isEqualTo(joining);
  }

  @Test
  void rejectsAnotherMember() {
    try (DataDir dir = DataDir.open(temp.resolve("d"))) {
      assertThat(reason(() -> dir.requireMember(1, new NodeId(2)))).isEqualTo(Reason.FOREIGN);
      dir.bootstrap(IDENTITY);
      assertThat(reason(() -> dir.requireMember(IDENTITY.clusterId(), new NodeId(2))))
          .isEqualTo(Reason.FOREIGN);
      assertThat(reason(() -> dir.requireMember(1, IDENTITY.memberId()))).isEqualTo(Reason.FOREIGN);
    }
  }

  @Test
  void inUseErrorNamesOwnProcess() {
    Path root = temp.resolve("d");
    DataDir first = DataDir.open(root);
    assertThatThrownBy(() -> DataDir.open(root))
        .isInstanceOf(DataDirException.class)
        .hasMessageContaining("in use by this process");
    first.close();
    DataDir.open(root).close();
  }

  @Test
  void inUseErrorNamesOtherProcess() throws Exception {
    Path root = temp.resolve("d");
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                DataDirHolder.class.getName(),
                root.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(out.readLine()).isEqualTo("held");
      assertThatThrownBy(() -> DataDir.open(root))
          .isInstanceOf(DataDirException.class)
          .hasMessageContaining("pid " + child.pid());
      // A second attempt must not release the lock of the holder.
      assertThat(reason(() -> DataDir.open(root))).isEqualTo(Reason.IN_USE);
    } finally {
      child.destroyForcibly().waitFor();
    }
    DataDir.open(root).close();
  }

  @Test
  void doesNotChangeDamagedOrNewerIdentity() throws IOException {
    Path root = temp.resolve("d");
    try (DataDir dir = DataDir.open(root)) {
      dir.bootstrap(IDENTITY);
    }
    Path file = root.resolve("identity");
    byte[] good = Files.readAllBytes(file);
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 1;
      Files.write(file, bad);
      assertThat(reason(() -> DataDir.open(root))).as("byte %d", i).isEqualTo(Reason.CORRUPT);
      assertThat(Files.readAllBytes(file)).isEqualTo(bad);
    }
    byte[] newer = CheckedText.encode(MemberIdentity.TITLE, 3, List.of());
    Files.write(file, newer);
    assertThat(reason(() -> DataDir.open(root))).isEqualTo(Reason.WRONG_VERSION);
    Files.delete(file);
    Files.createDirectory(root.resolve("wal/something"));
    assertThat(reason(() -> DataDir.open(root))).isEqualTo(Reason.CORRUPT);
  }

  @Test
  void rejectsForeignDirectory() throws IOException {
    Path root = Files.createDirectory(temp.resolve("d"));
    Files.createDirectory(root.resolve("member"));
    assertThat(reason(() -> DataDir.open(root))).isEqualTo(Reason.FOREIGN);
    assertThat(root.resolve("lock")).doesNotExist();
    Path file = Files.writeString(temp.resolve("file"), "x");
    assertThat(reason(() -> DataDir.open(file))).isEqualTo(Reason.UNUSABLE);
    assertThatThrownBy(() -> DataDir.open(file.resolve("below")))
        .hasMessageContaining(file + " is not a directory")
        .hasMessageContaining("correct the path");
    assertThat(reason(() -> DataDir.open(Path.of("/proc/nowhere")))).isEqualTo(Reason.NOT_WRITABLE);
  }

  @Test
  void wrongPathsAndPermissionsAreDistinguishedFromFailedDevices() {
    String file = "/srv/data";
    for (IOException wrong :
        List.of(
            new AccessDeniedException(file),
            new FileSystemException(file, null, "Operation not permitted"),
            new FileSystemException(file, null, "Read-only file system"))) {
      DataDirException failed = DataDirException.failed("cannot use " + file, wrong);
      assertThat(failed.reason()).isEqualTo(Reason.UNUSABLE);
      assertThat(failed).hasMessageContaining(file).hasMessageNotContaining("Exception");
    }
    for (IOException device :
        List.of(
            new IOException("Input/output error"),
            new FileSystemException(file, null, "No space left on device"))) {
      assertThat(DataDirException.failed("x", device).reason()).isEqualTo(Reason.NOT_WRITABLE);
    }
  }

  @Test
  void crashBetweenWriteAndRenameLeavesFreshDirectory() throws IOException {
    Path root = temp.resolve("d");
    DataDir.open(root).close();
    Files.write(root.resolve("identity.new"), new byte[] {1, 2, 3});
    try (DataDir dir = DataDir.open(root)) {
      assertThat(dir.identity()).isNull();
      dir.bootstrap(IDENTITY);
    }
  }

  private static Reason reason(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    DataDirException e = catchThrowableOfType(DataDirException.class, call);
    assertThat(e).isNotNull();
    return e.reason();
  }
}
