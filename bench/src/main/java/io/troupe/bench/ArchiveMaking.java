package io.troupe.bench;

import io.troupe.bench.server.ServerCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;

/**
 * Has bin/node make its class-data archive ahead: otherwise the first start would have it made
 * beside what is measured.
 */
final class ArchiveMaking {
  private static final String ARCHIVE = "TROUPE_ARCHIVE";

  private ArchiveMaking() {}

  /**
   * Makes it, if the command is bin/node and uses one; returns when it is there.
   *
   * @throws IllegalStateException if none could be made
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
        throw new IllegalStateException(program + " made no archive: exit code " + exit);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("start " + program, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + program + " made its archive", e);
    }
  }
}
