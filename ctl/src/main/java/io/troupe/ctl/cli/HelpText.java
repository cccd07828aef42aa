package io.troupe.ctl.cli;

import io.troupe.ctl.text.Quoted;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Help of a command in the layout of etcdctl, and the list of global flags. */
public final class HelpText {
  private HelpText() {}

  /** Usage, commands and flags; ends with a line end. */
  public static String usage(CommandLine command) {
    CommandSpec spec = command.getCommandSpec();
    StringBuilder text = new StringBuilder("Usage:\n  ");
    boolean group = !command.getSubcommands().isEmpty();
    text.append(group ? spec.qualifiedName() + " [command]" : synopsis(spec)).append('\n');
    if (group) {
      text.append("\nAvailable Commands:\n");
      int width =
          command.getSubcommands().keySet().stream().mapToInt(String::length).max().orElse(0);
      for (Map.Entry<String, CommandLine> sub : command.getSubcommands().entrySet()) {
        if (sub.getValue().getCommandSpec().usageMessage().hidden()) {
          continue;
        }
        text.append(
            String.format(
                Locale.ROOT,
                "  %-" + width + "s  %s\n",
                sub.getKey(),
                summary(sub.getValue().getCommandSpec())));
      }
    }
    if (spec.parent() != null) {
      text.append("\nFlags:\n").append(flags(spec.options(), spec.name()));
    }
    if (group) {
      text.append("\nUse \"")
          .append(spec.qualifiedName())
          .append(" [command] --help\" for more information about a command.\n");
    }
    return text.toString();
  }

  /** The complete help: description, usage, and where to find the global flags. */
  public static String help(CommandLine command) {
    String description = String.join("\n", command.getCommandSpec().usageMessage().description());
    return (description.isEmpty() ? "" : description + "\n\n")
        + usage(command)
        + "Use \"ctl options\" for a list of global command-line options (applies to all commands).\n";
  }

  /** One line for each global flag. */
  public static String globalFlags(CommandLine root) {
    return flags(root.getCommandSpec().options(), "");
  }

  private static String synopsis(CommandSpec spec) {
    String[] custom = spec.usageMessage().customSynopsis();
    String parent = spec.parent() == null ? "" : spec.parent().qualifiedName() + " ";
    String own = custom.length == 0 ? spec.name() : String.join(" ", custom);
    return parent + own + " [flags]";
  }

  private static String summary(CommandSpec spec) {
    String[] description = spec.usageMessage().description();
    return description.length == 0 ? "" : description[0];
  }

  private static String flags(List<OptionSpec> options, String helpOf) {
    record Line(String name, String flag, String text) {}
    List<Line> lines = new ArrayList<>();
    for (OptionSpec option : options) {
      String name = option.longestName();
      String letter = option.shortestName().equals(name) ? "    " : option.shortestName() + ", ";
      boolean isBoolean = option.type() == boolean.class;
      lines.add(
          new Line(
              name,
              letter + name + (isBoolean ? "" : " " + option.paramLabel()),
              String.join(" ", option.description()) + defaultOf(option)));
    }
    if (!helpOf.isEmpty()) {
      lines.add(new Line("--help", "-h, --help", "help for " + helpOf));
    }
    lines.sort(Comparator.comparing(Line::name));
    int width = lines.stream().mapToInt(line -> line.flag().length()).max().orElse(0);
    StringBuilder text = new StringBuilder();
    for (Line line : lines) {
      text.append(
          String.format(Locale.ROOT, "  %-" + width + "s   %s\n", line.flag(), line.text()));
    }
    return text.toString();
  }

  private static String defaultOf(OptionSpec option) {
    String value = option.defaultValue();
    if (value == null || value.isEmpty() || value.equals("false") || value.equals("0")) {
      return "";
    }
    return " (default " + (option.type() == String.class ? Quoted.quote(value) : value) + ")";
  }
}
