package io.troupe.tests.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.crash.Commands;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** systemd reads the unit without a complaint; fails if systemd-analyze is not installed. */
@Tag("full")
@HeapIndependent
class SystemdUnitIT {
  private static final Path UNIT = Path.of("..", "conf", "systemd", "troupe.service");

  /** Exposure of 10.0 is that of a unit without restrictions. */
  private static final int MOST_EXPOSURE_TENTHS = 20;

  private final Path temp;

  SystemdUnitIT(@TempDir Path temp) {
    this.temp = temp;
  }

  /** The unit with a program and a user that exist here. */
  private Path unit() throws IOException {
    String text =
        Files.readString(UNIT)
            .replace("/usr/share/troupe/bin/node", NodeProcess.script("node").toString())
            .replaceAll("(?m)^(User|Group)=troupe$", "$1=daemon")
            .replaceAll("(?m)^Documentation=.*\n", "");
    return Files.writeString(temp.resolve("troupe.service"), text);
  }

  @Test
  void systemdKnowsEverySetting() throws IOException {
    assertThat(Commands.run("systemd-analyze", "verify", "--man=no", unit().toString())).isEmpty();
  }

  @Test
  void unitIsRestricted() throws IOException {
    String report =
        Commands.run(
            "systemd-analyze",
            "security",
            "--offline=true",
            "--threshold=" + MOST_EXPOSURE_TENTHS,
            "--no-pager",
            unit().toString());
    assertThat(report).contains("Overall exposure level");
  }

  /** A wrong setting is found: the test above can fail. */
  @Test
  void wrongSettingIsReported() throws IOException {
    Path unit = unit();
    Files.writeString(unit, Files.readString(unit).replace("ProtectClock=", "ProtectClok="));
    assertThat(Commands.run("systemd-analyze", "verify", "--man=no", unit.toString()))
        .contains("ProtectClok");
  }
}
