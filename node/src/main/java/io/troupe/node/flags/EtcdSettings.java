package io.troupe.node.flags;

import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Converts checked values of flags to settings of Troupe. */
final class EtcdSettings {
  /** Troupe's maximum; etcd's default is far above. */
  private static final BigInteger MOST_STREAMS = BigInteger.valueOf(65_536);

  private static final String BOOTSTRAP =
      "multiple discovery or bootstrap flags are set. Choose one of \"initial-cluster\","
          + " \"discovery-endpoints\" or \"discovery-srv\"";

  /** Flags for which zero means etcd's default. */
  private static final Set<String> ZERO_IS_DEFAULT =
      Set.of(
          "snapshot-count",
          "compaction-batch-limit",
          "compaction-sleep-interval",
          "watch-progress-notify-interval");

  private static final List<String> LISTENERS =
      List.of(
          "listen-peer-urls",
          "listen-client-urls",
          "listen-client-http-urls",
          "listen-metrics-urls");

  private final Map<String, String> values;
  private final boolean fromFile;
  private final HostLookup host;
  private final Map<String, String> properties = new LinkedHashMap<>();
  private final List<DeferredLogLine> notices = new ArrayList<>();

  /** Looks up the address at which other machines reach this one. */
  interface HostLookup {
    /**
     * Returns the address.
     *
     * @throws IOException with the reason if there is none
     */
    String find() throws IOException;
  }

  /**
   * Creates the conversion.
   *
   * @param values by flag, checked; only flags that were given
   * @param fromFile true if they come from a configuration file (F11)
   * @param host called only if an advertised default depends on it
   */
  EtcdSettings(Map<String, String> values, boolean fromFile, HostLookup host) {
    this.values = values;
    this.fromFile = fromFile;
    this.host = host;
  }

  /**
   * Returns the system properties to set.
   *
   * @throws FlagException if a value is wrong, missing or not supported
   */
  Map<String, String> properties() {
    check();
    String name = values.getOrDefault("name", "");
    String directory = values.getOrDefault("data-dir", "");
    put("name", name.isEmpty() ? "default" : name);
    put("log.format", "json");
    // F6
    put(
        "data-dir",
        directory.isEmpty() ? (name.isEmpty() ? "default" : name) + ".etcd" : directory);
    values.forEach(this::take);
    if (fromFile && isGiven("listen-client-urls") && !isGiven("advertise-client-urls")) {
      // F11
      put("advertise-client-urls", "http://localhost:2379");
    }
    advertise("initial-advertise-peer-urls", "listen-peer-urls", "http://localhost:2380");
    advertise("advertise-client-urls", "listen-client-urls", "http://localhost:2379");
    return properties;
  }

  /**
   * F8: replaces an advertised default of localhost if the listener is for all interfaces, because
   * other hosts cannot reach localhost.
   */
  private void advertise(String name, String listen, String standard) {
    String first =
        Stream.of(values.getOrDefault(listen, "").split(",", -1)).sorted().findFirst().orElse("");
    boolean allInterfaces = first.matches("https?://0\\.0\\.0\\.0:[0-9]+");
    String own = values.getOrDefault(name, "");
    if (!allInterfaces || !(own.isEmpty() || own.equals(standard))) {
      return;
    }
    try {
      String found = host.find();
      put(name, "http://" + found + first.substring(first.lastIndexOf(':')));
      notices.add(DeferredLogLine.info("detected default host for advertise").with("host", found));
    } catch (IOException none) {
      notices.add(
          DeferredLogLine.info("failed to detect default host")
              .with("error", String.valueOf(none.getMessage())));
    }
  }

  /** Returns the lines to log. */
  List<DeferredLogLine> notices() {
    return notices;
  }

  private void put(String key, String value) {
    properties.put("troupe." + key, value);
  }

  private boolean isGiven(String name) {
    return !values.getOrDefault(name, "").isEmpty();
  }

  /** F6, F7: checks relations between flags. The check of a single value is part of its setting. */
  private void check() {
    long bootstraps =
        List.of("initial-cluster", "discovery-endpoints", "discovery-srv").stream()
            .filter(this::isGiven)
            .count();
    if (bootstraps > 1) {
      throw new FlagException(1, BOOTSTRAP);
    }
    // F11: in a file the default stays
    if (!fromFile && isGiven("listen-client-urls") && !isGiven("advertise-client-urls")) {
      throw new FlagException(
          1, "--advertise-client-urls is required when --listen-client-urls is set explicitly");
    }
    for (String listen : LISTENERS) {
      for (String url : values.getOrDefault(listen, "").split(",", -1)) {
        checkBinding(url);
      }
    }
    if (values.getOrDefault("enable-distributed-tracing", "false").equals("true")) {
      checkSampling(Long.parseLong(values.getOrDefault("distributed-tracing-sampling-rate", "0")));
    }
  }

  /** F7, in etcd's words. */
  private static void checkSampling(long rate) {
    if (rate >= 0 && rate <= 1_000_000) {
      return;
    }
    throw new FlagException(
        1,
        "distributed tracing configuration is not valid: (tracing sampling rate must be "
            + (rate < 0 ? "positive" : "less than 1000000")
            + ")");
  }

  /** F7: requires that a listener binds an IP address, not a name that may change. */
  private static void checkBinding(String url) {
    String host;
    try {
      URI parsed = URI.create(url);
      boolean file = "unix".equals(parsed.getScheme()) || "unixs".equals(parsed.getScheme());
      host = file ? null : parsed.getHost();
    } catch (IllegalArgumentException malformed) {
      // The check of the setting has a better message.
      return;
    }
    if (host != null && !host.equals("localhost") && !host.matches("[0-9.]+|\\[.*\\]")) {
      throw new FlagException(1, "expected IP in URL for binding (" + url + ")");
    }
  }

  private void take(String name, String value) {
    Flag flag = EtcdFlags.all().get(name);
    if (flag == null) {
      throw new IllegalArgumentException("no flag " + name);
    }
    if (flag.asksFor(value)) {
      throw new FlagException(
          1, "--" + name + "=" + value + " is not supported by Troupe: " + flag.what());
    }
    switch (flag.fate()) {
      case SETTING -> set(flag, value);
      case NO_EFFECT -> {
        if (!flag.isDefault(value) && !name.equals("config-file")) {
          notices.add(
              DeferredLogLine.warning("flag has no effect here")
                  .with("flag", name)
                  .with("reason", flag.what()));
        }
      }
      case REFUSED, IGNORED -> {
        // The default behavior, or a value that etcd does not check either.
      }
    }
  }

  private void set(Flag flag, String value) {
    String name = flag.name();
    boolean zero = value.equals("0") || value.equals("0 ns");
    if (name.equals("name")
        || name.equals("data-dir")
        || (value.isEmpty() && !name.equals("auth-token"))
        || (zero && ZERO_IS_DEFAULT.contains(name))
        || (zero && fromFile && name.equals("self-signed-cert-validity"))) {
      return;
    }
    switch (name) {
      case "log-level" -> put("log.level", level(value));
      case "log-format" -> put("log.format", format(value));
      case "max-concurrent-streams" -> put(name, streams(value));
      case "max-learners" -> put(name, value.startsWith("-") ? "0" : value);
      // etcd compares with this word only.
      case "metrics" -> put(name, value.equals("extensive") ? value : "basic");
      case "socket-reuse-port" -> {
        put(name, value);
        if (value.equals("true")) {
          notices.add(
              DeferredLogLine.warning(
                  "socket-reuse-port is for the ports of clients; the peer port is not shared"));
        }
      }
      // gRPC's default, which applies if etcd sets no value.
      case "grpc-keepalive-min-time" -> put(name, zero ? "5 minutes" : value);
      default ->
          put(
              String.valueOf(flag.setting()),
              switch (flag.type()) {
                case MILLIS -> value + " ms";
                case SECONDS -> value + " s";
                default -> value;
              });
    }
  }

  private static String level(String value) {
    String level = value.toLowerCase(Locale.ROOT);
    return Set.of("panic", "fatal", "dpanic").contains(level) ? "error" : level;
  }

  private static String format(String value) {
    return switch (value) {
      case "json" -> "json";
      case "console" -> "text";
      default -> throw new FlagException(1, "unknown log format \"" + value + "\"");
    };
  }

  /** Returns the limit of streams. Zero means no limit in gRPC. */
  private String streams(String value) {
    if (value.equals("0") || new BigInteger(value).compareTo(MOST_STREAMS) > 0) {
      notices.add(
          DeferredLogLine.warning("limiting max-concurrent-streams to the maximum of Troupe")
              .with("value", MOST_STREAMS.toString()));
      return MOST_STREAMS.toString();
    }
    return value;
  }
}
