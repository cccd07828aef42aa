package io.troupe.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.ctl.cli.Console;
import io.troupe.testkit.TroupeServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code backup now} against members of this JVM. */
@Tag("full")
class BackupNowTest {
  private final Path target;

  BackupNowTest(@TempDir Path temp) {
    target = temp.resolve("backups");
  }

  private record Output(int exit, String out, String err) {}

  private static Output ctl(String endpoint, String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    List<String> line = new ArrayList<>(List.of("--endpoints=" + endpoint));
    line.addAll(List.of(args));
    Console console = new Console(InputStream.nullInputStream(), out, err, Map.of(), false, false);
    int exit = new Ctl(console).run(line);
    return new Output(
        exit, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private static String done(String endpoint, String... args) {
    Output output = ctl(endpoint, args);
    assertThat(output.exit()).as(output.err()).isZero();
    return output.out();
  }

  private List<String> manifests() throws IOException {
    try (var files = Files.list(target.resolve("manifests"))) {
      return files.map(file -> String.valueOf(file.getFileName())).toList();
    }
  }

  private TroupeServer start(int members) {
    return TroupeServer.builder()
        .members(members)
        .setting("troupe.backup.directory", target.toString())
        .setting("troupe.backup.interval", "365 days")
        .start();
  }

  @Test
  void anyMemberLeadsToTheLeader() throws IOException {
    try (TroupeServer server = start(3)) {
      done(server.endpoint(), "put", "k", "v");
      for (String endpoint : server.endpoints()) {
        String out = done(endpoint, "backup", "now");
        String id = out.split(" ", -1)[1];
        assertThat(out)
            .startsWith("Backup " + id + " written to " + target + ": revision 2, ")
            .endsWith("Z\n");
        assertThat(manifests()).contains(id + ".manifest");
      }
      String all = "127.0.0.1:1," + String.join(",", server.endpoints());
      assertThat(done(all, "backup", "now", "-w=json")).contains("\"revision\":2", "\"id\":\"2");
    }
  }

  @Test
  void onlyRootMayAsk() throws IOException {
    try (TroupeServer server = start(1)) {
      for (String user : List.of("root", "guest")) {
        done(server.endpoint(), "user", "add", user + ":secret");
      }
      done(server.endpoint(), "user", "grant-role", "root", "root");
      done(server.endpoint(), "auth", "enable");
      assertThat(ctl(server.endpoint(), "backup", "now").err()).contains("user name is empty");
      Output guest = ctl(server.endpoint(), "backup", "now", "--user=guest:secret");
      assertThat(guest.exit()).isOne();
      assertThat(guest.err()).contains("permission denied");
      assertThat(target.resolve("manifests")).doesNotExist();
      done(server.endpoint(), "backup", "now", "--user=root:secret");
      assertThat(manifests()).hasSize(1);
    }
  }

  @Test
  void errorsSayWhatIsWrong() throws IOException {
    try (TroupeServer server = TroupeServer.builder().start()) {
      Output without = ctl(server.endpoint(), "backup", "now");
      assertThat(without.exit()).isOne();
      assertThat(without.err()).contains("troupe.backup.directory is not set");
    }
    Files.writeString(target, "a file in place of the directory");
    try (TroupeServer server = start(1)) {
      Output failed = ctl(server.endpoint(), "backup", "now");
      assertThat(failed.exit()).isOne();
      assertThat(failed.err()).contains("backup failed: cannot write a backup to " + target);
      assertThat(ctl(server.endpoint(), "backup", "now", "x").exit()).isEqualTo(128);
    }
  }
}
