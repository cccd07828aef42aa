package io.troupe.tests.packaging;

import io.troupe.tests.crash.Commands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** The release that bin/release makes of a copy of this repository's files. */
final class ReleaseBuild {
  private static final String COMMIT_DATE = "2026-01-02T03:04:05Z";

  private final Path files;

  private ReleaseBuild(Path files) {
    this.files = files;
  }

  /** The root of this repository. */
  static Path root() {
    Path here = Path.of("").toAbsolutePath();
    return here.endsWith("system-tests") ? Objects.requireNonNull(here.getParent()) : here;
  }

  /**
   * Copies the files of this repository, changed ones included, and commits the copy.
   *
   * @param copy a directory that does not exist
   */
  static Path copySources(Path copy) throws IOException, InterruptedException {
    Path root = root();
    String listed =
        Commands.run(
            "git",
            "-c",
            "safe.directory=*",
            "-C",
            root.toString(),
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard");
    for (String name : listed.split("\0", -1)) {
      Path from = root.resolve(name);
      // A removed file is listed until the removal is committed.
      if (!name.isEmpty() && Files.isRegularFile(from)) {
        Path to = copy.resolve(name);
        Files.createDirectories(Objects.requireNonNull(to.getParent()));
        Files.copy(from, to);
        if (Files.isExecutable(from) && !to.toFile().setExecutable(true)) {
          throw new IOException("cannot make executable: " + to);
        }
      }
    }
    git(copy, "init", "-q");
    git(copy, "add", "-A");
    git(copy, "commit", "-q", "-m", "release");
    return copy;
  }

  /** Clones such a copy into a directory that does not exist. */
  static Path cloneSources(Path copy, Path clone) throws IOException, InterruptedException {
    git(copy, "clone", "-q", copy.toString(), clone.toString());
    return clone;
  }

  /**
   * Starts a build of a release.
   *
   * @param copy sources with a commit
   * @param umask of the build
   * @param environment more variables of the build
   * @return ends with the files of the release; fails with the output of the build
   */
  static CompletableFuture<ReleaseBuild> start(
      Path copy, String umask, Map<String, String> environment) throws IOException {
    Path log = copy.resolveSibling(copy.getFileName() + ".log");
    ProcessBuilder build =
        new ProcessBuilder("bash", "-c", "umask " + umask + " && exec bin/release")
            .directory(copy.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    build.environment().putAll(environment);
    return build.start().onExit().thenApply(ended -> ended(ended, copy, log));
  }

  private static ReleaseBuild ended(Process build, Path copy, Path log) {
    if (build.exitValue() == 0) {
      return new ReleaseBuild(copy.resolve("distribution/target/release"));
    }
    try {
      throw new AssertionError(Files.readString(log));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void git(Path copy, String... command) throws IOException, InterruptedException {
    ProcessBuilder git =
        new ProcessBuilder(
            Stream.concat(
                    Stream.of(
                        "git",
                        "-c",
                        "safe.directory=*",
                        "-c",
                        "user.name=test",
                        "-c",
                        "user.email=test@localhost",
                        "-c",
                        "commit.gpgsign=false",
                        "-c",
                        "core.hooksPath=/dev/null"),
                    Stream.of(command))
                .toList());
    git.directory(copy.toFile()).inheritIO();
    git.environment().put("GIT_AUTHOR_DATE", COMMIT_DATE);
    git.environment().put("GIT_COMMITTER_DATE", COMMIT_DATE);
    if (git.start().waitFor() != 0) {
      throw new AssertionError("failed: git " + String.join(" ", command));
    }
  }

  /** The date that --version of the release shows. */
  static String commitDate() {
    return COMMIT_DATE.substring(0, 10);
  }

  /** The directory of the files of the release. */
  Path directory() {
    return files;
  }

  /** The names of all files, sorted. */
  List<String> names() throws IOException {
    try (Stream<Path> all = Files.list(files)) {
      return all.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  /** The only file whose name ends so. */
  Path file(String suffix) throws IOException {
    List<String> found = names().stream().filter(name -> name.endsWith(suffix)).toList();
    if (found.size() != 1) {
      throw new AssertionError("not one file *" + suffix + ": " + names());
    }
    return files.resolve(found.get(0));
  }

  /** The version, from the name of the archive. */
  String version() throws IOException {
    return file(".tar.gz").getFileName().toString().replaceAll("^troupe-|\\.tar\\.gz$", "");
  }
}
