package io.troupe.node.flags;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Converts etcd's flags, variables and configuration file (section 4.1) to settings of Troupe. No
 * side effects: the result contains what to print, log or set.
 *
 * @param properties system properties to set, all below {@code troupe.}
 * @param notices lines for the log, in order: flags without effect, variables, the file
 */
public record EtcdCommandLine(Map<String, String> properties, List<DeferredLogLine> notices) {
  /** Variables of etcd without a flag (F5). */
  private static final Set<String> OTHER_VARIABLES =
      Set.of("ETCD_UNSUPPORTED_ARCH", "ETCD_VERIFY", "ETCD_VERSION");

  /** Proxies among etcd's subcommands (F5). Troupe has none of them. */
  private static final Set<String> PROXIES = Set.of("gateway", "grpc-proxy");

  private static final String NO_PROXY =
      ": only members are started here; a TCP proxy, or the proxy of an etcd 3.5 or later, can"
          + " stand before them";

  private static final String NOTICE_FILE =
      "loaded server configuration, other configuration command line flags and environment"
          + " variables will be ignored if provided";

  /** Copies. */
  public EtcdCommandLine {
    properties = Map.copyOf(properties);
    notices = List.copyOf(notices);
  }

  /**
   * Reads the command line, the variables and the configuration file.
   *
   * @param args flags with their values, nothing before them
   * @param environment variables of the process
   * @throws FlagException for help and version, and for errors
   */
  public static EtcdCommandLine read(List<String> args, Map<String, String> environment) {
    return read(args, environment, DefaultHost::find);
  }

  static EtcdCommandLine read(
      List<String> args, Map<String, String> environment, EtcdSettings.HostLookup host) {
    Map<String, String> given = parse(args);
    if (Boolean.parseBoolean(given.getOrDefault("version", "false"))) {
      throw new FlagException(0, VersionText.VERSION);
    }
    List<DeferredLogLine> notices = new ArrayList<>();
    String file = given.getOrDefault("config-file", "");
    if (file.isEmpty()) {
      file = environment.getOrDefault("ETCD_CONFIG_FILE", "");
    }
    ConfigFile.Content content;
    if (!file.isEmpty()) {
      content = ConfigFile.read(file);
      notices.add(DeferredLogLine.info(NOTICE_FILE).with("path", file));
    } else {
      content = new ConfigFile.Content(withVariables(given, environment, notices), Map.of());
    }
    notices.addAll(EtcdFlags.deprecated(content.flags().keySet()));
    EtcdSettings settings = new EtcdSettings(content.flags(), !file.isEmpty(), host);
    Map<String, String> properties = settings.properties();
    content.settings().forEach((key, value) -> properties.put("troupe." + key, value));
    notices.addAll(settings.notices());
    return new EtcdCommandLine(properties, notices);
  }

  /** F3: returns values by flag; the last value of a repeated flag wins. */
  private static Map<String, String> parse(List<String> args) {
    Map<String, String> given = new LinkedHashMap<>();
    int at = 0;
    while (at < args.size()) {
      String arg = args.get(at);
      if (arg.length() < 2 || !arg.startsWith("-") || arg.equals("--")) {
        break;
      }
      String body = arg.substring(arg.startsWith("--") ? 2 : 1);
      int equals = body.indexOf('=');
      String name = equals < 0 ? body : body.substring(0, equals);
      if (name.isEmpty() || name.startsWith("-")) {
        throw usage("bad flag syntax: " + arg);
      }
      Flag flag = EtcdFlags.all().get(name);
      if (flag == null) {
        if (name.equals("help") || name.equals("h")) {
          throw new FlagException(0, VersionText.usage());
        }
        throw usage("flag provided but not defined: -" + name);
      }
      at++;
      String value;
      if (equals >= 0) {
        value = body.substring(equals + 1);
      } else if (flag.type() == Flag.Type.BOOL) {
        value = "true";
      } else if (at < args.size()) {
        value = args.get(at++);
      } else {
        throw usage("flag needs an argument: -" + name);
      }
      given.put(name, checkedArgument(flag, value));
    }
    if (at < args.size() && args.get(at).equals("--")) {
      at++;
    }
    if (at < args.size()) {
      String left = args.get(at);
      String why = PROXIES.contains(left) ? NO_PROXY : "";
      throw new FlagException(1, "\"" + left + "\" is not a valid flag" + why);
    }
    return given;
  }

  private static String checkedArgument(Flag flag, String value) {
    if (flag.fate() == Flag.Fate.IGNORED) {
      return value;
    }
    try {
      return flag.checked(value);
    } catch (IllegalArgumentException wrong) {
      throw usage(
          (flag.type() == Flag.Type.BOOL ? "invalid boolean value \"" : "invalid value \"")
              + value
              + (flag.type() == Flag.Type.BOOL ? "\" for -" : "\" for flag -")
              + flag.name()
              + ": "
              + wrong.getMessage());
    }
  }

  private static FlagException usage(String text) {
    return new FlagException(2, text + "\n" + VersionText.usage());
  }

  /** F1: adds the variables of flags that were not given; both for one flag are an error. */
  private static Map<String, String> withVariables(
      Map<String, String> given, Map<String, String> environment, List<DeferredLogLine> notices) {
    Map<String, String> values = new LinkedHashMap<>(given);
    Map<String, Flag> variables = new LinkedHashMap<>();
    for (Flag flag : EtcdFlags.all().values()) {
      variables.put(flag.variable(), flag);
    }
    for (Map.Entry<String, String> entry : new TreeMap<>(environment).entrySet()) {
      String variable = entry.getKey();
      if (!variable.startsWith("ETCD_")) {
        continue;
      }
      Flag flag = variables.get(variable);
      if (variable.equals("ETCD_VERSION")) {
        if (!entry.getValue().isEmpty()) {
          notices.add(
              DeferredLogLine.warning("cannot set special environment variable")
                  .with("key", variable)
                  .with("value", entry.getValue()));
        }
      } else if (flag == null) {
        if (!OTHER_VARIABLES.contains(variable)) {
          notices.add(
              DeferredLogLine.warning("unrecognized environment variable")
                  .with("environment-variable", variable + "=" + entry.getValue()));
        }
      } else if (given.containsKey(flag.name())) {
        throw new FlagException(
            1,
            "conflicting environment variable \""
                + variable
                + "\" is shadowed by corresponding command-line flag (either unset environment"
                + " variable or disable flag)");
      } else if (!entry.getValue().isEmpty()) {
        values.put(flag.name(), checkedVariable(flag, variable, entry.getValue()));
        notices.add(used(variable, entry.getValue()));
      }
    }
    return values;
  }

  /** Logs the use of a variable, without passwords. */
  private static DeferredLogLine used(String variable, String value) {
    return DeferredLogLine.info("recognized and used environment variable")
        .with("variable-name", variable)
        .with("variable-value", variable.equals("ETCD_DISCOVERY_PASSWORD") ? "***" : value);
  }

  private static String checkedVariable(Flag flag, String variable, String value) {
    if (flag.fate() == Flag.Fate.IGNORED) {
      return value;
    }
    try {
      return flag.checked(value);
    } catch (IllegalArgumentException wrong) {
      throw new FlagException(
          1, "invalid value \"" + value + "\" for " + variable + ": " + wrong.getMessage());
    }
  }
}
