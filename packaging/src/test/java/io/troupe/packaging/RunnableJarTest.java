package io.troupe.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunnableJarTest {
  private static final String CLASS = "io/troupe/packaging/Lambdas.class";

  /** Jars store times in steps of two seconds. */
  private static final long BUILT = 1_700_000_000_000L;

  private static final String CONFIG =
      """
      # A comment.
      a {
        // Another one.
        b = 1 # kept

        c = ${a.b}
      }
      """;

  private final Path dir;
  private final byte[] lambdas = lambdas();

  RunnableJarTest(@TempDir Path dir) {
    this.dir = dir;
  }

  private Path assembled() {
    return dir.resolve("assembled.jar");
  }

  private Path jar() {
    return dir.resolve("node.jar");
  }

  private static byte[] lambdas() {
    try (InputStream in = ClassLoader.getSystemResourceAsStream(CLASS)) {
      return in.readAllBytes();
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  @Test
  void otherEntriesAreUnchangedAndInOrder() throws IOException {
    byte[] library = {1, 2, 3, 4};
    make(entries("native.so", library, CLASS, lambdas, "other/Lambdas.class", lambdas));

    new RunnableJar(List.of("io/troupe/")).rewrite(assembled(), jar());

    Map<String, byte[]> after = read();
    assertThat(after.keySet())
        .containsExactly(
            "stored", "native.so", CLASS, "other/Lambdas.class", "META-INF/CHANGED-CLASSES.txt");
    assertThat(after.get("native.so")).isEqualTo(library);
    assertThat(after.get("other/Lambdas.class")).isEqualTo(lambdas);
    assertThat(after.get(CLASS)).isNotEqualTo(lambdas);
    assertThat(after.get("stored")).asString().isEqualTo("as it is");
    assertThat(dir.toFile().list()).containsExactlyInAnyOrder("assembled.jar", "node.jar");
  }

  @Test
  void commentsOfDefaultsAreRemoved() throws IOException {
    make(entries("reference.conf", CONFIG.getBytes(StandardCharsets.UTF_8)));

    new RunnableJar(List.of()).rewrite(assembled(), jar());

    assertThat(read().get("reference.conf"))
        .asString()
        .isEqualTo("a {\nb = 1 # kept\nc = ${a.b}\n}\n");
  }

  @Test
  void sameSourcesCreateSameJar() throws IOException {
    make(entries(CLASS, lambdas, "reference.conf", CONFIG.getBytes(StandardCharsets.UTF_8)));

    new RunnableJar(List.of("io/troupe/")).rewrite(assembled(), jar());

    try (ZipFile zip = new ZipFile(jar().toFile())) {
      assertThat(zip.stream())
          .hasSize(4)
          .allMatch(entry -> entry.getLastModifiedTime().toMillis() == BUILT);
    }
  }

  /** Archives of classes belong to the jar with its time: a second build keeps them. */
  @Test
  void sameJarKeepsItsTime() throws IOException {
    RunnableJar rewriting = new RunnableJar(List.of("io/troupe/"));
    make(entries(CLASS, lambdas, "reference.conf", CONFIG.getBytes(StandardCharsets.UTF_8)));
    rewriting.rewrite(assembled(), jar());
    FileTime first = FileTime.fromMillis(BUILT);
    Files.setLastModifiedTime(jar(), first);

    rewriting.rewrite(assembled(), jar());

    assertThat(Files.getLastModifiedTime(jar())).isEqualTo(first);
    assertThat(dir.toFile().list()).containsExactlyInAnyOrder("assembled.jar", "node.jar");
  }

  @Test
  void otherJarReplacesOldOne() throws IOException {
    RunnableJar rewriting = new RunnableJar(List.of("io/troupe/"));
    make(entries("a", new byte[] {1}));
    rewriting.rewrite(assembled(), jar());
    Files.setLastModifiedTime(jar(), FileTime.fromMillis(BUILT));
    make(entries("a", new byte[] {2}));

    rewriting.rewrite(assembled(), jar());

    assertThat(read().get("a")).containsExactly(2);
    assertThat(Files.getLastModifiedTime(jar())).isGreaterThan(FileTime.fromMillis(BUILT));
    assertThat(dir.toFile().list()).containsExactlyInAnyOrder("assembled.jar", "node.jar");
  }

  @Test
  void changedMeaningOfDefaultsStopsBuild() throws IOException {
    String text = "a = \"\"\"\n# not a comment\n\"\"\"\n";
    make(entries("reference.conf", text.getBytes(StandardCharsets.UTF_8)));

    assertThatThrownBy(() -> new RunnableJar(List.of()).rewrite(assembled(), jar()))
        .hasMessageContaining("differs without its comments");

    assertThat(dir.toFile().list()).containsExactly("assembled.jar");
  }

  private static Map<String, byte[]> entries(Object... namesAndContents) {
    Map<String, byte[]> entries = new LinkedHashMap<>();
    for (int i = 0; i < namesAndContents.length; i += 2) {
      entries.put((String) namesAndContents[i], (byte[]) namesAndContents[i + 1]);
    }
    return entries;
  }

  /** The first entry is stored, not compressed. */
  private void make(Map<String, byte[]> entries) throws IOException {
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(assembled()))) {
      byte[] content = "as it is".getBytes(StandardCharsets.UTF_8);
      ZipEntry stored = new ZipEntry("stored");
      stored.setTime(BUILT);
      stored.setMethod(ZipEntry.STORED);
      stored.setSize(content.length);
      CRC32 crc = new CRC32();
      crc.update(content);
      stored.setCrc(crc.getValue());
      out.putNextEntry(stored);
      out.write(content);
      for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
        ZipEntry compressed = new ZipEntry(entry.getKey());
        compressed.setTime(BUILT);
        out.putNextEntry(compressed);
        out.write(entry.getValue());
      }
    }
  }

  /** The entries in the order of the jar. */
  private Map<String, byte[]> read() throws IOException {
    Map<String, byte[]> contents = new LinkedHashMap<>();
    try (ZipFile zip = new ZipFile(jar().toFile())) {
      for (ZipEntry entry : new ArrayList<ZipEntry>(zip.stream().toList())) {
        try (InputStream in = zip.getInputStream(entry)) {
          contents.put(entry.getName(), in.readAllBytes());
        }
      }
    }
    return contents;
  }
}
