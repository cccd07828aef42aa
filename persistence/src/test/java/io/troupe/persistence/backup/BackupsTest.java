package io.troupe.persistence.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backups share files, are complete or absent, and are deleted with what only they have. */
class BackupsTest {
  private static final Instant START = Instant.parse("2026-11-26T03:04:05.678Z");

  private final Path temp;
  private final Path content;
  private final Path store;
  private final Backups backups;

  BackupsTest(@TempDir Path temp) {
    this.temp = temp;
    this.content = temp.resolve("content");
    this.store = temp.resolve("store");
    this.backups = new Backups(new DirectoryTarget(store));
  }

  @BeforeEach
  void content() throws IOException {
    Files.createDirectory(content);
    file("000001.sst", "one");
    file("000002.sst", "two");
    file("CURRENT", "1");
  }

  private void file(String name, String text) throws IOException {
    Files.writeString(content.resolve(name), text);
  }

  private BackupManifest write(int minutes, long index) {
    Instant time = START.plusSeconds(60L * minutes);
    return backups.write(content, new Backups.Origin(time, 0xc1, 0xd2, index, 3, index + 100));
  }

  private static Map<String, String> texts(Path directory) throws IOException {
    Map<String, String> texts = new TreeMap<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        texts.put(String.valueOf(file.getFileName()), Files.readString(file));
      }
    }
    return texts;
  }

  private int stored() throws IOException {
    try (Stream<Path> files = Files.list(store.resolve("files"))) {
      return (int) files.count();
    }
  }

  @Test
  void backupRestoresEveryFile() throws IOException {
    Map<String, String> before = texts(content);
    BackupManifest backup = write(0, 10);
    assertThat(backup.id()).isEqualTo("20261126T030405Z-a");
    assertThat(backups.list()).containsExactly(backup);
    backups.verify(backup);
    Path restored = temp.resolve("restored");
    backups.restore(backups.find(""), restored, bytes -> {});
    assertThat(texts(restored)).isEqualTo(before);
  }

  @Test
  void unchangedFilesAreStoredOnce() throws IOException {
    write(0, 10);
    assertThat(stored()).isEqualTo(3);
    file("000003.sst", "three");
    file("CURRENT", "2");
    Files.delete(content.resolve("000001.sst"));
    BackupManifest second = write(1, 20);
    assertThat(stored()).isEqualTo(5);
    assertThat(backups.list()).extracting(BackupManifest::index).containsExactly(20L, 10L);
    assertThat(second.files())
        .extracting(BackupManifest.StoredFile::name)
        .containsExactly("000002.sst", "000003.sst", "CURRENT");
  }

  @Test
  void oldBackupsAreDeletedWithTheFilesThatOnlyTheyHave() throws IOException {
    BackupManifest first = write(0, 10);
    file("CURRENT", "2");
    BackupManifest second = write(1, 20);
    Files.delete(content.resolve("000001.sst"));
    BackupManifest third = write(2, 30);
    assertThat(backups.retain(0xc1, 5)).isEmpty();
    assertThat(stored()).isEqualTo(4);
    assertThat(backups.retain(0xc1, 2)).containsExactly(first.id());
    assertThat(stored()).isEqualTo(3);
    assertThat(backups.retain(0xc1, 1)).containsExactly(second.id());
    assertThat(stored()).isEqualTo(2);
    backups.verify(third);
    assertThatThrownBy(() -> backups.find(first.id()))
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("no backup " + first.id())
        .hasMessageContaining(third.id());
  }

  @Test
  void damagedFilesAreFound() throws IOException {
    BackupManifest backup = write(0, 10);
    Path file = store.resolve(backup.files().get(1).stored());
    Files.writeString(file, "twx");
    assertThatThrownBy(() -> backups.verify(backup))
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("000002.sst")
        .hasMessageContaining("does not match its checksum");
    assertThatThrownBy(() -> backups.restore(backup, temp.resolve("restored"), bytes -> {}))
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("does not match its checksum");
    Files.delete(file);
    assertThatThrownBy(() -> backups.verify(backup))
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("cannot read 000002.sst");
  }

  /** They may be those of the damaged manifest. */
  @Test
  void filesStayWhileAManifestIsDamaged() throws IOException {
    BackupManifest first = write(0, 10);
    file("CURRENT", "2");
    write(1, 20);
    Path manifest = store.resolve("manifests/" + first.id() + ".manifest");
    Files.writeString(manifest, Files.readString(manifest).replace("index 10", "index 11"));
    assertThat(backups.list()).extracting(BackupManifest::index).containsExactly(20L);
    assertThat(backups.retain(0xc1, 1)).isEmpty();
    assertThat(stored()).isEqualTo(4);
  }

  /** A crash during a write leaves an incomplete file, which belongs to no backup. */
  @Test
  void incompleteFilesDoNotCount() throws IOException {
    BackupManifest first = write(0, 10);
    String name = first.files().get(0).stored();
    Files.move(store.resolve(name), store.resolve(name + ".new"));
    Files.writeString(store.resolve("manifests/x.manifest.new"), "troupe-backup 1");
    assertThat(backups.list()).containsExactly(first);
    assertThatThrownBy(() -> backups.verify(first)).isInstanceOf(BackupException.class);
    BackupManifest second = write(1, 10);
    backups.verify(second);
    backups.verify(first);
  }

  @Test
  void emptyTargetHasNoBackups() {
    assertThat(backups.list()).isEmpty();
    assertThatThrownBy(() -> backups.find(""))
        .isInstanceOf(BackupException.class)
        .hasMessageContaining("no backup in " + store);
  }

  /** Backups that exist must stay readable: a change of these bytes is a new version. */
  @Test
  void goldenManifest() throws IOException {
    BackupManifest backup = write(0, 10);
    Path file = store.resolve("manifests/" + backup.id() + ".manifest");
    String name = "golden/backup-manifest-v1.txt";
    try (InputStream golden = BackupsTest.class.getClassLoader().getResourceAsStream(name)) {
      byte[] bytes = Objects.requireNonNull(golden).readAllBytes();
      assertThat(Files.readString(file)).isEqualTo(new String(bytes, StandardCharsets.UTF_8));
      assertThat(BackupManifest.decode(name, bytes)).isEqualTo(backup);
    }
  }

  @Test
  void manifestsNameNoFilesElsewhere() {
    String sum = "0".repeat(64);
    for (String name : List.of("../a", "a/b", "", ".a")) {
      assertThatThrownBy(() -> new BackupManifest.StoredFile(name, 1, sum))
          .as(name)
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (String wrong : List.of("../" + "0".repeat(61), "0".repeat(63), "G".repeat(64))) {
      assertThatThrownBy(() -> new BackupManifest.StoredFile("a", 1, wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
