package io.troupe.tests.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.troupe.testing.FreePort;
import io.troupe.testing.NeedsRoot;
import io.troupe.tests.crash.Commands;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files of a release: built twice at different places, run, installed. Needs root for the
 * Debian package, which is installed on an overlay over the root directory.
 */
@Alone
@NeedsRoot
@OwnHeap
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReleaseIT {
  private final Path temp;
  private final ReleaseBuild first;
  private final ReleaseBuild second;
  private final Path unpacked;

  /** Builds once for all tests. */
  ReleaseIT(@TempDir Path temp) throws IOException, InterruptedException {
    this.temp = temp;
    Path sources = ReleaseBuild.copySources(temp.resolve("first"));
    Path clone = ReleaseBuild.cloneSources(sources, temp.resolve("elsewhere/second"));
    // At the same time: much of a build runs on one processor.
    CompletableFuture<ReleaseBuild> one = ReleaseBuild.start(sources, "022", Map.of());
    CompletableFuture<ReleaseBuild> other =
        ReleaseBuild.start(clone, "027", Map.of("TZ", "Asia/Tokyo", "LC_ALL", "C.UTF-8"));
    CompletableFuture.allOf(one, other).join();
    first = one.join();
    second = other.join();
    Files.createDirectories(temp.resolve("unpacked"));
    Commands.run(
        "tar", "-xzf", first.file(".tar.gz").toString(), "-C", temp.resolve("unpacked").toString());
    unpacked = temp.resolve("unpacked/troupe-" + first.version());
  }

  private static String hash(Path file) throws IOException, GeneralSecurityException {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
    return String.format("%064x", new BigInteger(1, digest));
  }

  private static Map<String, String> hashes(ReleaseBuild release)
      throws IOException, GeneralSecurityException {
    Map<String, String> hashes = new TreeMap<>();
    for (String name : release.names()) {
      hashes.put(name, hash(release.directory().resolve(name)));
    }
    return hashes;
  }

  @Test
  void sameCommitGivesTheSameFiles() throws Exception {
    String name = "troupe-" + first.version();
    assertThat(first.names())
        .containsExactly("SHA256SUMS", name + ".cdx.json", name + ".deb", name + ".tar.gz");
    assertThat(hashes(second)).isEqualTo(hashes(first));
  }

  @Test
  void checksumsAreThoseOfTheFiles() throws Exception {
    Map<String, String> listed = new TreeMap<>();
    for (String line : Files.readAllLines(first.directory().resolve("SHA256SUMS"))) {
      listed.put(line.substring(66), line.substring(0, 64));
    }
    Map<String, String> expected = hashes(first);
    expected.remove("SHA256SUMS");
    assertThat(listed).isEqualTo(expected);
  }

  @Test
  void everyLibraryIsListedWithVersionHashAndLicense() throws IOException {
    JsonObject list =
        JsonParser.parseString(Files.readString(first.file(".cdx.json"))).getAsJsonObject();
    assertThat(list.get("bomFormat").getAsString()).isEqualTo("CycloneDX");
    assertThat(list.get("specVersion").getAsString()).isEqualTo("1.6");
    List<String> names = new ArrayList<>();
    for (JsonElement each : list.getAsJsonArray("components")) {
      JsonObject component = each.getAsJsonObject();
      String name = component.get("name").getAsString();
      names.add(name);
      assertThat(component.get("purl").getAsString()).startsWith("pkg:maven/").contains("@");
      assertThat(component.getAsJsonArray("hashes").isEmpty()).as(name).isFalse();
      if (!component.get("group").getAsString().equals("io.troupe")) {
        assertThat(component.getAsJsonArray("licenses").isEmpty()).as(name).isFalse();
      }
    }
    assertThat(names)
        .contains(
            "pekko-actor-typed_2.13",
            "rocksdbjni",
            "chronicle-queue",
            "protobuf-java",
            "jna",
            "picocli",
            "grpc-netty")
        .doesNotContain("junit-jupiter", "assertj-core", "awaitility");
  }

  @Test
  void versionHasCommitAndDate() {
    for (String program : List.of("node", "ctl")) {
      assertThat(Files.isExecutable(unpacked.resolve("bin").resolve(program))).isTrue();
    }
    String version = Commands.run(unpacked.resolve("bin/node").toString(), "--version");
    assertThat(version).containsPattern("\\([0-9a-f]{10}, " + ReleaseBuild.commitDate() + "\\)");
  }

  @Test
  void memberOfTheArchiveServesItsOwnCommandLine() {
    String url = "http://127.0.0.1:" + FreePort.next();
    String peer = "http://127.0.0.1:" + FreePort.next();
    try (NodeProcess node =
        NodeProcess.program(
                temp.resolve("member"),
                unpacked.resolve("bin/node").toString(),
                "-Dconfig.file=" + unpacked.resolve("conf/node.conf"),
                "-Dtroupe.data-dir=" + temp.resolve("member/data"),
                "-Dtroupe.listen-client-urls=" + url,
                "-Dtroupe.listen-peer-urls=" + peer,
                "-Dtroupe.initial-advertise-peer-urls=" + peer)
            .environment("TROUPE_ARCHIVE", "off")
            .start()) {
      node.awaitReady();
      String ctl = unpacked.resolve("bin/ctl").toString();
      assertThat(Commands.run(ctl, "--endpoints=" + url, "put", "a", "b")).contains("OK");
      assertThat(Commands.run(ctl, "--endpoints=" + url, "endpoint", "health"))
          .contains("is healthy");
      assertThat(node.stop()).isEqualTo(143);
    }
  }

  /** What the recipe copies is in the archive, and what it runs is among that. */
  @Test
  void containerRecipeUsesFilesOfTheArchive() throws IOException {
    String recipe =
        Files.readString(unpacked.resolve("conf/container/Dockerfile"))
            .replace("${VERSION}", first.version());
    assertThat(recipe).contains("ADD " + first.file(".tar.gz").getFileName() + " /unpacked/");
    Map<String, Path> copied = new TreeMap<>();
    Matcher copy =
        Pattern.compile("(?m)^COPY --from=archive (.+) (/opt/troupe\\S*)$").matcher(recipe);
    while (copy.find()) {
      for (String source : copy.group(1).split(" ", -1)) {
        Path file = temp.resolve("unpacked").resolve(source.replaceFirst("^/unpacked/", ""));
        assertThat(file).exists();
        copied.put(copy.group(2), file);
      }
    }
    assertThat(copied.keySet())
        .containsExactly(
            "/opt/troupe/", "/opt/troupe/bin", "/opt/troupe/conf/node.conf", "/opt/troupe/lib");
    Matcher run = Pattern.compile("/opt/troupe/(bin/\\w+)\\b").matcher(recipe);
    List<String> programs = new ArrayList<>();
    while (run.find()) {
      programs.add(run.group(1));
      assertThat(Files.isExecutable(unpacked.resolve(run.group(1)))).as(run.group(1)).isTrue();
    }
    assertThat(programs).contains("bin/node", "bin/ctl");
    assertThat(recipe).contains("\nUSER troupe\n", "\nVOLUME /var/lib/troupe\n", "\nSTOPSIGNAL");
  }

  /** Runs one of the scripts with the package, on a copy of this system that is thrown away. */
  private String runOnCopyOfThisSystem(String name) throws IOException, InterruptedException {
    Path script = ReleaseBuild.root().resolve("system-tests/src/test/resources/debian/" + name);
    Path log = temp.resolve(name + ".log");
    Path work = Files.createDirectory(temp.resolve(name));
    ProcessBuilder checks =
        new ProcessBuilder(
                "bash", script.toString(), first.file(".deb").toString(), work.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    checks.environment().put("EXPECTED_VERSION", first.version());
    int status = checks.start().waitFor();
    String text = Files.readString(log);
    assertThat(status).as(text).isZero();
    return text;
  }

  @Test
  void debianPackageInstallsUpgradesAndPurges() throws Exception {
    assertThat(runOnCopyOfThisSystem("lifecycle.sh")).contains("all checks passed");
  }

  @Test
  void unitRunsAMemberUnderSystemd() throws Exception {
    assertThat(runOnCopyOfThisSystem("systemd.sh")).contains("all checks passed");
  }
}
