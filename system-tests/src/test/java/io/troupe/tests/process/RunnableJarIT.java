package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** Result of the last build step (decision 0143) in the jar that users start. */
@HeapIndependent
class RunnableJarIT {
  @Test
  void lambdasCanBeArchivedAndDefaultsHaveNoComments() throws IOException {
    try (ZipFile jar = new ZipFile(NodeProcess.nodeJar().toFile())) {
      for (String name :
          new String[] {
            "scala/Option$.class",
            "org/apache/pekko/actor/ActorSystemImpl.class",
            "org/apache/pekko/stream/impl/fusing/GraphInterpreter.class",
            "io/troupe/actors/raft/RaftRoleActor.class"
          }) {
        assertThat(text(jar, name)).as(name).doesNotContain("altMetafactory");
      }
      assertThat(text(jar, "reference.conf").lines())
          .hasSizeGreaterThan(500)
          .noneMatch(line -> line.startsWith("#"));
      assertThat(text(jar, "META-INF/CHANGED-CLASSES.txt")).contains("org.apache.pekko.*");
    }
  }

  private static String text(ZipFile jar, String name) throws IOException {
    ZipEntry entry = jar.getEntry(name);
    assertThat(entry).as(name).isNotNull();
    try (InputStream in = jar.getInputStream(entry)) {
      return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }
}
