package io.troupe.ctl.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Global flags from variables: {@code --dial-timeout} from {@code ETCDCTL_DIAL_TIMEOUT} (CT2). */
public final class EnvironmentFlags {
  private static final String PREFIX = "ETCDCTL_";

  /** Variables of the command watch, and one that older versions needed. */
  private static final Set<String> OTHERS =
      Set.of("ETCDCTL_WATCH_KEY", "ETCDCTL_WATCH_RANGE_END", "ETCDCTL_API");

  private EnvironmentFlags() {}

  /**
   * The flags that variables set. Warns of unknown variables.
   *
   * @param given flags of the command line
   * @return arguments for the root command
   * @throws CtlException if a variable and a flag are both set, or a value is invalid
   */
  public static List<String> read(CommandLine root, Set<String> given, Console console) {
    Set<String> known = new TreeSet<>(OTHERS);
    List<String> flags = new ArrayList<>();
    for (OptionSpec option : root.getCommandSpec().options()) {
      String name = option.longestName();
      String variable = PREFIX + name.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
      known.add(variable);
      String value = console.variable(variable);
      if (value.isEmpty()) {
        continue;
      }
      if (given.contains(name)) {
        throw new CtlException(
            ExitCode.ERROR,
            "conflicting environment variable "
                + variable
                + " is shadowed by corresponding command-line flag (either unset environment"
                + " variable or disable flag)");
      }
      try {
        flags.addAll(FlagParser.parse(root, List.of(name + "=" + value)).line());
      } catch (UsageException e) {
        throw new CtlException(ExitCode.ERROR, variable + ": " + e.getMessage());
      }
    }
    for (Map.Entry<String, String> each : new TreeMap<>(console.environment()).entrySet()) {
      if (each.getKey().startsWith(PREFIX) && !known.contains(each.getKey())) {
        console.error("Warning: unrecognized environment variable " + each.getKey());
      }
    }
    return flags;
  }
}
