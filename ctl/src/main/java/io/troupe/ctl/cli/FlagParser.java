package io.troupe.ctl.cli;

import io.troupe.ctl.text.Durations;
import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.Quoted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Reads arguments as Go's command line libraries do: flags and arguments in any order, {@code
 * --flag=value} or {@code --flag value}, booleans with or without a value, unique prefixes of
 * commands. The result is passed to picocli in a form that has one meaning only.
 */
public final class FlagParser {
  private static final Set<String> TRUE = Set.of("1", "t", "T", "TRUE", "true", "True");
  private static final Set<String> FALSE = Set.of("0", "f", "F", "FALSE", "false", "False");

  /**
   * What the arguments select.
   *
   * @param command the last command of the path
   * @param line for picocli: options of each command before the next one, no arguments
   * @param arguments the others, in order
   * @param dash number of arguments before {@code --}; -1 without it
   * @param given names of the options that are present, such as {@code --rev}
   * @param help whether the help of the command is requested
   */
  public record Parsed(
      CommandLine command,
      List<String> line,
      List<String> arguments,
      int dash,
      Set<String> given,
      boolean help) {}

  private record Flag(String name, String value) {}

  private final CommandLine root;
  private CommandLine current;
  private final List<CommandLine> path = new ArrayList<>();
  private final List<Flag> flags = new ArrayList<>();
  private final List<String> arguments = new ArrayList<>();
  private boolean help;

  private FlagParser(CommandLine root) {
    this.root = root;
    this.current = root;
    path.add(root);
  }

  /**
   * @param args without the name of the program
   * @throws UsageException if a flag or a command is unknown, or a value is invalid
   */
  public static Parsed parse(CommandLine root, List<String> args) {
    return new FlagParser(root).read(args);
  }

  private Parsed read(List<String> args) {
    int dash = -1;
    int at = 0;
    while (at < args.size()) {
      String arg = args.get(at++);
      if (arg.equals("--")) {
        dash = arguments.size();
        arguments.addAll(args.subList(at, args.size()));
        break;
      }
      String next = at < args.size() ? args.get(at) : null;
      if (arg.startsWith("--")) {
        at += longFlag(arg, next) ? 1 : 0;
      } else if (arg.startsWith("-") && arg.length() > 1) {
        at += shortFlags(arg, next) ? 1 : 0;
      } else {
        word(arg);
      }
    }
    return result(dash);
  }

  private void word(String arg) {
    if (current == root && arg.equals("help") && arguments.isEmpty()) {
      help = true;
      return;
    }
    if (!arguments.isEmpty() || current.getSubcommands().isEmpty()) {
      arguments.add(arg);
      return;
    }
    CommandLine found = subcommand(arg);
    if (found != null) {
      current = found;
      path.add(found);
    } else if (current == root) {
      throw new UsageException(
          "unknown command " + Quoted.quote(arg) + " for " + Quoted.quote(root.getCommandName()),
          root,
          false);
    } else {
      arguments.add(arg);
    }
  }

  /** The command of that name, or the only one that starts with it. */
  private @Nullable CommandLine subcommand(String name) {
    CommandLine exact = current.getSubcommands().get(name);
    if (exact != null) {
      return exact;
    }
    List<CommandLine> matches = new ArrayList<>();
    for (Map.Entry<String, CommandLine> entry : current.getSubcommands().entrySet()) {
      if (entry.getKey().startsWith(name)) {
        matches.add(entry.getValue());
      }
    }
    return matches.size() == 1 ? matches.get(0) : null;
  }

  /** Returns whether {@code next} is the value. */
  private boolean longFlag(String arg, @Nullable String next) {
    int equals = arg.indexOf('=');
    String name = equals < 0 ? arg : arg.substring(0, equals);
    OptionSpec option = find(name);
    if (option == null) {
      if (name.equals("--help")) {
        help = true;
        return false;
      }
      throw new UsageException("unknown flag: " + name, current, true);
    }
    if (equals >= 0) {
      add(option, arg.substring(equals + 1));
      return false;
    }
    if (isBoolean(option)) {
      add(option, "true");
      return false;
    }
    if (next == null) {
      throw new UsageException("flag needs an argument: " + name, current, true);
    }
    add(option, next);
    return true;
  }

  /** One or more letters after a dash, the last with a value. */
  private boolean shortFlags(String arg, @Nullable String next) {
    for (int at = 1; at < arg.length(); at++) {
      OptionSpec option = find("-" + arg.charAt(at));
      if (option == null) {
        if (arg.charAt(at) == 'h') {
          help = true;
          return false;
        }
        throw new UsageException(
            "unknown shorthand flag: '" + arg.charAt(at) + "' in -" + arg.substring(at),
            current,
            true);
      }
      String rest = arg.substring(at + 1);
      if (rest.startsWith("=")) {
        add(option, rest.substring(1));
        return false;
      }
      if (isBoolean(option)) {
        add(option, "true");
        continue;
      }
      if (!rest.isEmpty()) {
        add(option, rest);
        return false;
      }
      if (next == null) {
        throw new UsageException(
            "flag needs an argument: '" + arg.charAt(at) + "' in " + arg, current, true);
      }
      add(option, next);
      return true;
    }
    return false;
  }

  /** The option of the commands read so far, or of a command below the last one. */
  private @Nullable OptionSpec find(String name) {
    for (int i = path.size() - 1; i >= 0; i--) {
      OptionSpec option = path.get(i).getCommandSpec().findOption(name);
      if (option != null) {
        return option;
      }
    }
    return current == root ? null : below(current.getCommandSpec(), name);
  }

  private static @Nullable OptionSpec below(CommandSpec spec, String name) {
    for (CommandLine sub : spec.subcommands().values()) {
      OptionSpec option = sub.getCommandSpec().findOption(name);
      if (option != null) {
        return option;
      }
    }
    return null;
  }

  private static boolean isBoolean(OptionSpec option) {
    return option.type() == boolean.class;
  }

  private void add(OptionSpec option, String value) {
    try {
      flags.add(new Flag(option.longestName(), checked(option, value)));
    } catch (IllegalArgumentException e) {
      String shown = String.join(", ", option.names());
      throw new UsageException(
          "invalid argument "
              + Quoted.quote(value)
              + " for "
              + Quoted.quote(shown)
              + " flag: "
              + e.getMessage(),
          current,
          true);
    }
  }

  /** The value in the form that picocli converts. */
  private static String checked(OptionSpec option, String value) {
    Class<?> type = option.type();
    if (type == boolean.class) {
      if (TRUE.contains(value)) {
        return "true";
      }
      if (FALSE.contains(value)) {
        return "false";
      }
      throw new IllegalArgumentException(
          "strconv.ParseBool: parsing " + Quoted.quote(value) + ": invalid syntax");
    }
    if (type == long.class) {
      return Long.toString(Integers.parse(value, 10));
    }
    if (type == int.class) {
      long number = Integers.parse(value, 10);
      if (number != (int) number) {
        throw new IllegalArgumentException(
            "strconv.ParseInt: parsing " + Quoted.quote(value) + ": value out of range");
      }
      return Long.toString(number);
    }
    if (type == Duration.class) {
      Durations.parse(value);
    }
    return value;
  }

  private Parsed result(int dash) {
    Map<CommandLine, List<String>> options = new LinkedHashMap<>();
    path.forEach(command -> options.put(command, new ArrayList<>()));
    Set<String> given = new TreeSet<>();
    for (Flag flag : flags) {
      CommandLine owner = null;
      for (CommandLine command : path) {
        owner = command.getCommandSpec().findOption(flag.name()) == null ? owner : command;
      }
      if (owner == null) {
        throw new UsageException("unknown flag: " + flag.name(), current, true);
      }
      given.add(flag.name());
      var unused = options.computeIfAbsent(owner, key -> new ArrayList<>());
      unused.add(flag.name() + "=" + flag.value());
    }
    List<String> line = new ArrayList<>();
    options.forEach(
        (command, own) -> {
          if (command != root) {
            line.add(command.getCommandName());
          }
          line.addAll(own);
        });
    return new Parsed(current, line, List.copyOf(arguments), dash, given, help);
  }
}
