package io.troupe.ctl.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

class FlagParserTest {
  @Command(name = "prog")
  static final class Root {
    @Option(names = {"-w", "--write-out"})
    String writeOut = "";

    @Option(names = "--wait", arity = "1")
    Duration wait = Duration.ZERO;
  }

  @Command(name = "get")
  static final class Get {
    @Option(names = "--prefix", arity = "1")
    boolean prefix;

    @Option(
        names = {"-i", "--interactive"},
        arity = "1")
    boolean interactive;

    @Option(names = "--rev")
    long rev;
  }

  @Command(name = "group")
  static final class Group {
    @Command(name = "one")
    void one(@Option(names = "--all", arity = "1") boolean all) {}
  }

  @Command(name = "generate")
  static final class Generate {}

  private static CommandLine root() {
    return new CommandLine(new Root())
        .addSubcommand(new Get())
        .addSubcommand(new Group())
        .addSubcommand(new Generate());
  }

  private static FlagParser.Parsed parse(String... args) {
    return FlagParser.parse(root(), List.of(args));
  }

  @Test
  void flagsAndArgumentsMayBeMixed() {
    FlagParser.Parsed parsed = parse("-w", "json", "get", "a", "--prefix", "--rev", "-3", "b");
    assertThat(parsed.line())
        .containsExactly("--write-out=json", "get", "--prefix=true", "--rev=-3");
    assertThat(parsed.arguments()).containsExactly("a", "b");
    assertThat(parsed.given()).containsExactly("--prefix", "--rev", "--write-out");
    assertThat(parsed.dash()).isEqualTo(-1);
  }

  @Test
  void booleansTakeAttachedValuesOnly() {
    assertThat(parse("get", "--prefix=false", "true").line()).contains("--prefix=false");
    assertThat(parse("get", "--prefix", "true").arguments()).containsExactly("true");
    assertThat(parse("get", "--prefix=T").line()).contains("--prefix=true");
  }

  @Test
  void lettersMayBeJoinedWithValues() {
    for (String[] args : new String[][] {{"-wjson"}, {"-w=json"}, {"-w", "json"}}) {
      assertThat(parse(args).line()).containsExactly("--write-out=json");
    }
    assertThat(parse("get", "-iw", "json").line())
        .containsExactly("--write-out=json", "get", "--interactive=true");
  }

  @Test
  void everythingAfterTheDashesIsAnArgument() {
    FlagParser.Parsed parsed = parse("get", "a", "--", "--prefix", "--");
    assertThat(parsed.arguments()).containsExactly("a", "--prefix", "--");
    assertThat(parsed.dash()).isEqualTo(1);
  }

  @Test
  void uniquePrefixesSelectCommands_CT2() {
    assertThat(parse("gr", "o").command().getCommandName()).isEqualTo("one");
    assertThat(parse("get").command().getCommandName()).isEqualTo("get");
    assertThatThrownBy(() -> parse("g")).hasMessage("unknown command \"g\" for \"prog\"");
  }

  @Test
  void flagOfSubcommandMayPrecedeIt() {
    assertThat(parse("group", "--all", "one").line()).containsExactly("group", "one", "--all=true");
  }

  @Test
  void errorsHaveTheTextsOfEtcdctl() {
    assertThatThrownBy(() -> parse("get", "--nope")).hasMessage("unknown flag: --nope");
    assertThatThrownBy(() -> parse("get", "-Z")).hasMessage("unknown shorthand flag: 'Z' in -Z");
    assertThatThrownBy(() -> parse("get", "--rev")).hasMessage("flag needs an argument: --rev");
    assertThatThrownBy(() -> parse("-w")).hasMessage("flag needs an argument: 'w' in -w");
    assertThatThrownBy(() -> parse("get", "--rev=x"))
        .hasMessage(
            "invalid argument \"x\" for \"--rev\" flag: strconv.ParseInt: parsing \"x\": invalid"
                + " syntax");
    assertThatThrownBy(() -> parse("--wait=5"))
        .hasMessageContaining("time: missing unit in duration \"5\"");
  }

  @Test
  void helpIsRecognizedEverywhere() {
    assertThat(parse("get", "-h").help()).isTrue();
    assertThat(parse("--help").help()).isTrue();
    FlagParser.Parsed parsed = parse("help", "get");
    assertThat(parsed.help()).isTrue();
    assertThat(parsed.command().getCommandName()).isEqualTo("get");
  }
}
