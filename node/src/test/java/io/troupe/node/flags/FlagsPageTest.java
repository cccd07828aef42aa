package io.troupe.node.flags;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * docs/flags.md lists each flag as the program accepts it; {@code -Drewrite} writes its table
 * again.
 */
class FlagsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "flags.md");
  private static final String BEGIN = "| flag | default | here |\n|---|---|---|\n";

  private static String table() {
    StringBuilder out = new StringBuilder(BEGIN);
    for (Flag flag : EtcdFlags.all().values()) {
      String fate =
          switch (flag.fate()) {
            case SETTING -> "`" + flag.what() + "`";
            case NO_EFFECT -> "no effect: " + flag.what();
            case REFUSED -> "refused if it asks for more than the default: " + flag.what();
            case IGNORED -> "ignored";
          };
      String standard =
          flag.name().equals("log-rotation-config-json")
              ? "see `--help`"
              : flag.defaultText().isEmpty() ? "" : "`" + flag.defaultText() + "`";
      out.append("| `").append(flag.name()).append("` | ").append(standard).append(" | ");
      out.append(fate).append(" |\n");
    }
    return out.toString();
  }

  @Test
  void pageListsEveryFlag() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN);
    assertThat(begin).as("start of the table").isNotNegative();
    int end = page.indexOf("\n\n", begin) + 1;
    assertThat(end).as("end of the table").isPositive();
    if (System.getProperty("rewrite") != null) {
      page = page.substring(0, begin) + table() + page.substring(end);
      Files.writeString(PAGE, page);
      end = page.indexOf("\n\n", begin) + 1;
    }
    assertThat(page.substring(begin, end)).isEqualTo(table());
  }

  /** 113 flags in the reference, and 13 that are ignored. */
  @Test
  void allFlagsOfEtcdAreKnown() {
    long ignored =
        EtcdFlags.all().values().stream().filter(flag -> flag.fate() == Flag.Fate.IGNORED).count();
    assertThat(ignored).isEqualTo(13);
    assertThat(EtcdFlags.all()).hasSize(113 + 13);
  }

  @Test
  void settingsExistAndDefaultsParse() {
    Config defaults = ConfigFactory.parseResources("troupe-defaults.conf");
    for (Flag flag : EtcdFlags.all().values()) {
      if (flag.setting() != null) {
        assertThat(defaults.hasPathOrNull("troupe." + flag.setting())).as(flag.name()).isTrue();
      }
      if (!flag.defaultText().isEmpty()) {
        assertThat(flag.isDefault(flag.checked(flag.defaultText()))).as(flag.name()).isTrue();
      }
    }
  }
}
