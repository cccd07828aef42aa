package io.troupe.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FreePortTest {
  /** A JVM that gets a port, prints it, and ends with its input. */
  static final class OtherJvm {
    private OtherJvm() {}

    public static void main(String[] args) throws IOException {
      System.out.println(FreePort.next());
      System.out.flush();
      System.in.read();
    }
  }

  @Test
  void portBelongsToOneJvmUntilItEnds() throws Exception {
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                OtherJvm.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(other.getInputStream(), StandardCharsets.UTF_8))) {
      int port = Integer.parseInt(out.readLine());
      assertThat(FreePort.reserve(port)).isFalse();
      other.getOutputStream().close();
      assertThat(other.waitFor()).isZero();
    } finally {
      other.destroyForcibly().waitFor();
    }
  }

  @Test
  void portIsReturnedOnce() {
    Set<Integer> ports = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      assertThat(ports.add(FreePort.next())).isTrue();
    }
  }
}
