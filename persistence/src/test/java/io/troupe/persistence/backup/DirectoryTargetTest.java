package io.troupe.persistence.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryTargetTest {
  private static final String NAME = "logs/a.log";

  private final Path root;
  private final DirectoryTarget one;
  private final DirectoryTarget other;

  DirectoryTargetTest(@TempDir Path root) {
    this.root = root;
    this.one = new DirectoryTarget(root);
    this.other = new DirectoryTarget(root);
  }

  private static InputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private String read() throws IOException {
    try (InputStream in = one.read(NAME)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Runs a task when the first byte is read. */
  private static final class Interrupted extends InputStream {
    private final InputStream content;
    private final Runnable before;
    private boolean begun;

    Interrupted(String text, Runnable before) {
      this.content = bytes(text);
      this.before = before;
    }

    @Override
    public int read() throws IOException {
      int next = content.read();
      if (!begun) {
        begun = true;
        before.run();
      }
      return next;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int next = read();
      if (next < 0) {
        return -1;
      }
      into[offset] = (byte) next;
      return 1;
    }
  }

  /** The former leader is in the middle of a file when the next one writes the same file. */
  @Test
  void writersOfOneNameDoNotDisturbEachOther() throws IOException {
    Runnable wholeOther =
        () -> {
          try {
            other.write(NAME, () -> bytes("much longer text of the other writer"));
            assertThat(read()).isEqualTo("much longer text of the other writer");
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        };
    one.write(NAME, () -> new Interrupted("short text", wholeOther));
    assertThat(read()).isEqualTo("short text");
    assertThat(one.list("logs")).containsExactly("a.log");
    try (var files = Files.list(root.resolve("logs"))) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void incompleteFilesOfCrashedWritersAreDeleted() throws IOException {
    Path logs = Files.createDirectories(root.resolve("logs"));
    Path old = Files.writeString(logs.resolve("b.log.x.new"), "x");
    Path recent = Files.writeString(logs.resolve("c.log.x.new"), "x");
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(2))));
    one.write(NAME, () -> bytes("text"));
    assertThat(old).doesNotExist();
    assertThat(recent).exists();
    assertThat(one.list("logs")).containsExactly("a.log");
  }
}
