package io.troupe.persistence.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
  @TempDir Path cache = Path.of("");

  private Path directory() throws IOException {
    return requireNonNull(NativeLibrary.unpacked(cache));
  }

  private static Path only(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> found = files.toList();
      assertThat(found).hasSize(1);
      return found.get(0);
    }
  }

  @Test
  void isUnpackedOnce() throws IOException {
    Path library = only(directory());
    FileTime old = FileTime.fromMillis(1_000_000);
    Files.setLastModifiedTime(library, old);
    assertThat(only(directory())).isEqualTo(library);
    assertThat(Files.getLastModifiedTime(library)).isEqualTo(old);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(library)))
        .isEqualTo("rw-------");
  }

  @Test
  void damagedLibraryIsReplaced() throws IOException {
    Path library = only(directory());
    byte[] whole = Files.readAllBytes(library);
    try (RandomAccessFile file = new RandomAccessFile(library.toFile(), "rw")) {
      file.seek(5_000_000);
      int old = file.read();
      file.seek(5_000_000);
      file.write(old ^ 1);
    }
    assertThat(Files.readAllBytes(only(directory()))).isEqualTo(whole);
    Files.write(library, new byte[100]);
    assertThat(Files.readAllBytes(only(directory()))).isEqualTo(whole);
  }

  @Test
  void rejectsFileWritableByOtherUsers() throws IOException {
    Path library = only(directory());
    Files.setPosixFilePermissions(library, PosixFilePermissions.fromString("rw-rw-rw-"));
    assertThatThrownBy(this::directory)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is writable by other users");
    Files.delete(library);
    Path directory = requireNonNull(library.getParent());
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(this::directory)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is writable by other users");
  }

  @Test
  void rejectsLinkedDirectoryOfAnotherUser() throws IOException {
    Path directory = directory();
    Path elsewhere = cache.resolve("elsewhere");
    Files.move(directory, elsewhere);
    Files.createSymbolicLink(directory, elsewhere);
    assertThatThrownBy(this::directory).isInstanceOf(IOException.class);
  }

  @Test
  void concurrentLoadsLeaveOneCompleteFile() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Path>> calls = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        calls.add(this::directory);
      }
      for (Future<Path> call : pool.invokeAll(calls)) {
        assertThat(call.get()).isEqualTo(directory());
      }
      assertThat(Files.size(only(directory()))).isGreaterThan(1_000_000);
    } finally {
      pool.shutdown();
    }
  }
}
