package io.troupe.node.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import io.troupe.actors.snapshot.SnapshotSettings;
import io.troupe.edge.connection.ConnectionLimits;
import io.troupe.edge.connection.KeepAlive;
import io.troupe.edge.http.StatusPageMode;
import io.troupe.model.EtcdVersion;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.process.Version;
import io.troupe.server.UpkeepSettings;
import io.troupe.server.VersionSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Reads {@link NodeSettings} from the configuration. Each error is one line with key, value and the
 * expected form.
 */
final class SettingsReader {
  private static final String ROOT = "troupe";
  private static final String DEFAULTS = "troupe-defaults.conf";
  private static final String URL_FORM =
      "http://host:port or https://host:port, unix://file or unixs://file of a unix socket";

  private final Config config;

  private SettingsReader(Config config) {
    this.config = config;
  }

  static NodeSettings read(Config whole) {
    refuseUnknownKeys(whole);
    return new SettingsReader(whole).read();
  }

  private NodeSettings read() {
    String name = text("name");
    if (name.isEmpty()) {
      throw wrong("name", "", "a name, for example \"node1\"");
    }
    Duration heartbeat =
        duration("heartbeat-interval", Duration.ofMillis(1), Duration.ofSeconds(10));
    Duration election = duration("election-timeout", Duration.ofMillis(5), Duration.ofSeconds(50));
    if (election.toNanos() < 5 * heartbeat.toNanos()) {
      throw wrong(
          "election-timeout",
          election.toMillis() + " ms",
          "at least 5 times heartbeat-interval (" + heartbeat.toMillis() + " ms)");
    }
    String dataDir = text("data-dir");
    Path data = Path.of(dataDir.isEmpty() ? name + ".troupe" : dataDir).toAbsolutePath();
    String cacheDir = text("cache-dir");
    List<URI> listenClient = urls("listen-client-urls");
    if (listenClient.isEmpty()) {
      throw wrong("listen-client-urls", "", "at least one URL, " + URL_FORM);
    }
    List<URI> listenPeer = urls("listen-peer-urls");
    NodeSettings.Http http = http();
    FeatureGates features =
        typed("feature-gates", path -> FeatureGates.of(config.getString(path)), FeatureGates.FORM);
    TransportReader transports = new TransportReader(this, data);
    NodeSettings.InitialState state =
        oneOf("initial-cluster-state", Set.of("new", "existing")).equals("new")
            ? NodeSettings.InitialState.NEW
            : NodeSettings.InitialState.EXISTING;
    return new NodeSettings(
        name,
        data,
        walDir(data),
        cacheDir.isEmpty() ? data.resolve("cache") : Path.of(cacheDir).toAbsolutePath(),
        listenClient,
        advertised(listenClient),
        listenPeer,
        urls("initial-advertise-peer-urls").stream().map(URI::toString).toList(),
        initialCluster(state),
        text("initial-cluster-token"),
        state,
        flag("force-new-cluster"),
        flag("memory-mlock"),
        flag("strict-reconfig-check"),
        (int) number("max-learners", 0, 1000),
        heartbeat,
        election,
        duration("disk-stall-timeout", Duration.ZERO, Duration.ofMinutes(10)),
        new SnapshotSettings(
            number("snapshot-count", 1, 1_000_000_000),
            bytes("snapshot-log-bytes", 1 << 20, 1L << 40),
            duration("snapshot-min-interval", Duration.ZERO, Duration.ofHours(1)),
            bytes("catch-up-log-bytes", 1 << 20, 1L << 40)),
        bytes("snapshot-send-rate", 1 << 20, 1L << 40),
        new BackupReader(this).read(),
        bytes("wal-segment-size", 1 << 20, 512 << 20),
        (int) bytes("max-request-bytes", 1024, 256 << 20),
        (int) number("max-txn-ops", 0, 1_000_000),
        new ConnectionLimits(
            (int) number("max-concurrent-streams", 1, 65_536),
            (int) number("max-stream-resets", 1, 1_000_000),
            (int) number("max-connections", 0, 1_000_000),
            (int) number("max-connections-per-address", 0, 1_000_000)),
        bytes("client-memory-bytes", 0, Runtime.getRuntime().maxMemory() / 2),
        (int) number("max-pending-proposals", 1, 10_000_000),
        bytesOrNegative("quota-backend-bytes"),
        bytes("min-free-disk-bytes", 0, Long.MAX_VALUE),
        duration("watch-progress-notify-interval", Duration.ofMillis(100), Duration.ofDays(1)),
        bytes("watch-stream-buffer-bytes", 64 << 10, 1 << 30),
        (int) number("compaction-batch-limit", 1, 1_000_000),
        duration("compaction-sleep-interval", Duration.ZERO, Duration.ofMinutes(1)),
        new NodeSettings.Auth(
            text("auth-token"),
            duration("auth-token-ttl", Duration.ZERO, Duration.ofDays(365)),
            number("bcrypt-cost", 0, Long.MAX_VALUE)),
        new NodeSettings.Store(
            bytes("store.block-cache-bytes", 8 << 20, Long.MAX_VALUE),
            bytes("store.write-buffer-bytes", 4 << 20, Long.MAX_VALUE),
            bytes("store.hot-record-bytes", 0, Long.MAX_VALUE)),
        new LogReader(this).read(),
        http,
        new KeepAlive(
            duration("grpc-keepalive-min-time", Duration.ZERO, Duration.ofDays(365)),
            duration("grpc-keepalive-interval", Duration.ZERO, Duration.ofDays(365)),
            duration("grpc-keepalive-timeout", Duration.ZERO, Duration.ofDays(1))),
        upkeep(features),
        features,
        transports.client(listenClient, http),
        transports.peer(listenPeer),
        new NodeSettings.Slow(
            duration("warning-apply-duration", Duration.ZERO, Duration.ofDays(1)),
            duration("warning-unary-request-duration", Duration.ZERO, Duration.ofDays(1))),
        new TracingReader(this).read(),
        new DiscoveryReader(this).registry(),
        new DiscoveryReader(this).srv(),
        new VersionSettings(
            serverVersion(),
            duration("downgrade-check-time", Duration.ZERO, Duration.ofDays(365))));
  }

  private EtcdVersion serverVersion() {
    return text("acts-as-version").isEmpty()
        ? Version.etcd()
        : typed(
            "acts-as-version",
            path -> EtcdVersion.parse(config.getString(path)),
            "a version such as \"3.6.0\", or \"\"");
  }

  /**
   * Returns the separate log directory. The default place in the data directory counts as not set.
   */
  private Optional<Path> walDir(Path data) {
    String given = text("wal-dir");
    Path apart = Path.of(given).toAbsolutePath().normalize();
    Path own = data.normalize();
    if (given.isEmpty() || apart.equals(own.resolve("wal"))) {
      return Optional.empty();
    }
    if (apart.startsWith(own) || own.startsWith(apart)) {
      throw wrong("wal-dir", given, "a directory outside of data-dir (" + own + ")");
    }
    return Optional.of(apart);
  }

  private NodeSettings.Http http() {
    String origins = "[\"https://example.org\"], or [\"*\"]";
    return new NodeSettings.Http(
        urls("listen-client-http-urls"),
        urls("listen-metrics-urls"),
        given(texts("cors", origins)),
        given(texts("host-whitelist", "[\"example.org\"], or [\"*\"]")),
        flag("enable-pprof"),
        flag("enable-grpc-gateway"),
        oneOf("metrics", Set.of("basic", "extensive")).equals("extensive"),
        flag("socket-reuse-port"),
        StatusPageMode.valueOf(
            oneOf("status-page", Set.of("auto", "always", "never")).toUpperCase(Locale.ROOT)));
  }

  static boolean isHostAndPort(String address) {
    try {
      URI url = new URI("http://" + address);
      return url.getHost() != null
          && url.getPort() > 0
          && url.getPort() <= 65535
          && address.equals(url.getHost() + ":" + url.getPort());
    } catch (URISyntaxException malformed) {
      return false;
    }
  }

  static List<String> given(List<String> texts) {
    return texts.stream().map(String::trim).filter(text -> !text.isEmpty()).toList();
  }

  private UpkeepSettings upkeep(FeatureGates gates) {
    Duration hashes =
        duration("compact-hash-check-time", Duration.ofMillis(1), Duration.ofDays(365));
    String mode = oneOf("auto-compaction-mode", Set.of("periodic", "revision"));
    return new UpkeepSettings(
        typed(
            "auto-compaction-retention",
            path -> Retentions.of(mode, config.getString(path)),
            Retentions.FORM),
        duration("corrupt-check-time", Duration.ZERO, Duration.ofDays(365)),
        gates.isOn(FeatureGates.Feature.CompactHashCheck) ? hashes : Duration.ZERO,
        gates.isOn(FeatureGates.Feature.InitialCorruptCheck));
  }

  private List<String> advertised(List<URI> listen) {
    List<URI> own = urls("advertise-client-urls");
    return (own.isEmpty() ? listen : own).stream().map(URI::toString).toList();
  }

  private static void refuseUnknownKeys(Config whole) {
    Config known =
        ConfigFactory.parseResources(DEFAULTS)
            .withFallback(ConfigFactory.defaultReferenceUnresolved());
    Config given = section(whole);
    for (Map.Entry<String, ConfigValue> entry : given.entrySet()) {
      if (!known.hasPathOrNull(ROOT + "." + entry.getKey())) {
        throw new StartException(
            ExitCode.CONFIGURATION,
            "configuration: unknown key "
                + ROOT
                + "."
                + entry.getKey()
                + " = "
                + entry.getValue().unwrapped()
                + " ("
                + entry.getValue().origin().description()
                + ")"
                + KeyNames.suggestion(entry.getKey())
                + "; known keys of this section: "
                + siblings(known, entry.getKey()));
      }
    }
  }

  private static Config section(Config whole) {
    try {
      return whole.getConfig(ROOT);
    } catch (ConfigException.WrongType wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: " + ROOT + " is not a section: expected " + ROOT + " { ... }");
    }
  }

  private static String siblings(Config known, String key) {
    List<String> path = new ArrayList<>(ConfigUtil.splitPath(ROOT + "." + key));
    path.remove(path.size() - 1);
    while (!known.hasPath(ConfigUtil.joinPath(path))
        || known.getValue(ConfigUtil.joinPath(path)).valueType() != ConfigValueType.OBJECT) {
      path.remove(path.size() - 1);
    }
    return String.join(
        ", ", known.getObject(ConfigUtil.joinPath(path)).keySet().stream().sorted().toList());
  }

  String text(String key) {
    return typed(key, config::getString, "a text");
  }

  String oneOf(String key, Set<String> allowed) {
    String value = text(key);
    if (!allowed.contains(value)) {
      throw wrong(key, value, "one of " + allowed.stream().sorted().toList());
    }
    return value;
  }

  long number(String key, long min, long max) {
    long value = typed(key, config::getLong, "a whole number");
    return inRange(key, value, min, max);
  }

  private long bytes(String key, long min, long max) {
    long value = typed(key, config::getBytes, "a size such as 1572864 or \"64 MiB\"");
    return inRange(key, value, min, max);
  }

  private long bytesOrNegative(String key) {
    return typed(
        key,
        path ->
            config.getString(path).startsWith("-") ? config.getLong(path) : config.getBytes(path),
        "a size such as 8589934592 or \"8 GiB\", or a negative number");
  }

  private long inRange(String key, long value, long min, long max) {
    if (value < min || value > max) {
      throw wrong(
          key,
          Long.toString(value),
          max == Long.MAX_VALUE ? "at least " + min : "between " + min + " and " + max);
    }
    return value;
  }

  Duration duration(String key, Duration min, Duration max) {
    Duration value = typed(key, config::getDuration, "a duration such as \"100 ms\"");
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw wrong(
          key,
          value.toMillis() + " ms",
          "between " + min.toMillis() + " ms and " + max.toMillis() + " ms");
    }
    return value;
  }

  /**
   * Parses name=url, repeated for each URL of a member and for each member. Each URL occurs once.
   * The name may be empty for a member that joins: "member add" prints it for another member that
   * has not started yet.
   */
  private Map<String, List<String>> initialCluster(NodeSettings.InitialState state) {
    String key = "initial-cluster";
    String right = "name=" + URL_FORM + " for each peer URL of each first member";
    Map<String, List<String>> members = new LinkedHashMap<>();
    Set<String> seen = new HashSet<>();
    for (String part : texts(key, "[\"n1=http://10.0.0.1:2380\", \"n2=http://10.0.0.2:2380\"]")) {
      if (part.isBlank()) {
        continue;
      }
      int equals = part.indexOf('=');
      if (equals < 0 || (equals == 0 && state == NodeSettings.InitialState.NEW)) {
        throw wrong(key, part, right);
      }
      String name = part.substring(0, equals).trim();
      String url = url(key, part.substring(equals + 1).trim()).toString();
      if (!seen.add(url)) {
        throw wrong(key, url, right + ", each URL once");
      }
      members.computeIfAbsent(name, first -> new ArrayList<>()).add(url);
    }
    return members;
  }

  /** Returns a list, given as a list or, as in etcd's flags, as one text with commas. */
  List<String> texts(String key, String example) {
    String path = ROOT + "." + key;
    return config.getValue(path).valueType() == ConfigValueType.STRING
        ? List.of(config.getString(path).split(",", -1))
        : typed(key, config::getStringList, "a list such as " + example);
  }

  /** Returns URLs, which may name unix sockets. */
  private List<URI> urls(String key) {
    List<URI> urls = new ArrayList<>();
    for (String text : given(texts(key, "[\"http://localhost:2379\"]"))) {
      urls.add(url(key, text));
    }
    return List.copyOf(urls);
  }

  private static URI parsed(String key, String text, String right) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw wrong(key, text, right);
    }
  }

  private URI url(String key, String text) {
    URI url = parsed(key, text, URL_FORM);
    if (SocketUrl.is(url)) {
      if (!SocketUrl.isComplete(url)) {
        throw wrong(key, text, URL_FORM);
      }
      return url;
    }
    boolean known = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
    boolean bare = url.getRawPath() == null || url.getRawPath().isEmpty();
    if (!known || url.getHost() == null || url.getPort() < 0 || url.getPort() > 65535 || !bare) {
      throw wrong(key, text, URL_FORM);
    }
    return url;
  }

  <T> T typed(String key, Function<String, T> getter, String right) {
    String path = ROOT + "." + key;
    try {
      return getter.apply(path);
    } catch (ConfigException.Missing
        | ConfigException.WrongType
        | ConfigException.BadValue
        | IllegalArgumentException e) {
      Object value = config.hasPathOrNull(path) ? config.getValue(path).unwrapped() : "nothing";
      throw wrong(key, String.valueOf(value), right);
    }
  }

  /** Returns true or false. */
  boolean flag(String key) {
    return typed(key, config::getBoolean, "true or false");
  }

  static StartException wrong(String key, String value, String right) {
    return refused(key, value, "expected " + right);
  }

  /** Returns the error for one value; {@code why} follows "is wrong: ". */
  static StartException refused(String key, String value, String why) {
    return new StartException(
        ExitCode.CONFIGURATION,
        "configuration: " + ROOT + "." + key + " = \"" + value + "\" is wrong: " + why);
  }
}
