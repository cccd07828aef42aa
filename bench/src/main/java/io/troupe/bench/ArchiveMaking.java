package io.troupe.bench;

import io.troupe.bench.server.ServerCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;

/**
 * Makes bin/node create its class-data archive in advance; otherwise the first start would create
 * it during the measurement.
 */
final class ArchiveMaking {
  private static final String ARCHIVE = "TROUPE_ARCHIVE";

  private ArchiveMaking() {}

  /**
   * Creates the archive, if the command is bin/node and uses one; returns when it exists.
   *
   * @throws IllegalStateException if the archive could not be created
   */
  static void run(ServerCommand command) {
    Path program = Path.of(command.program().get(0));
    boolean used =
        command.flags() == ServerCommand.Flags.TROUPE
            && program.endsWith("bin/node")
            && !command.environment().containsKey(ARCHIVE)
            && System.getenv(ARCHIVE) == null;
    if (!used) {
      return;
    }
    ProcessBuilder builder =
        new ProcessBuilder(program.toString())
            .redirectOutput(Redirect.DISCARD)
            .redirectError(Redirect.INHERIT);
    builder.environment().putAll(command.environment());
    builder.environment().put(ARCHIVE, "make");
    try {
      int exit = builder.start().waitFor();
      if (exit != 0) {
        throw new IllegalStateException(program + " did not create its archive, exit code " + exit);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("start " + program, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + program + " created its archive", e);
    }
  }
}
