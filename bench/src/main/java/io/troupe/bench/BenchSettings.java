package io.troupe.bench;

import io.troupe.bench.load.LoadSettings;
import io.troupe.bench.load.OpenSizes;
import io.troupe.bench.load.Profiles;
import io.troupe.bench.server.ServerCommand;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The common settings of the commands.
 *
 * @param home the project's directory: bin/node and bench/results are below it
 * @param workDir parent of the data directories
 * @param troupe the command that starts a Troupe server
 * @param profiles names, in the order in which they run
 * @param load sizes and times
 * @param serverWarmUp load on a fresh server before the first profile
 * @param members of each server that is started, 1 or more
 * @param leader number of the member that leads, 1 to members
 * @param rounds how often each server is started and measured
 * @param loops threads of the generator
 * @param tls started servers use TLS
 * @param auth started servers have authentication enabled, and every call carries root's token
 */
record BenchSettings(
    Path home,
    Path workDir,
    ServerCommand troupe,
    List<String> profiles,
    LoadSettings load,
    Duration serverWarmUp,
    int members,
    int leader,
    int rounds,
    int loops,
    boolean tls,
    boolean auth) {

  /** Describes TLS and authentication for the results; empty without either. */
  String protection() {
    return (tls ? ", TLS" : "") + (auth ? ", authentication with simple tokens" : "");
  }

  /** Names of all options, without dashes. */
  static final Set<String> OPTIONS =
      new TreeSet<>(
          Set.of(
              "compare",
              "endpoint",
              "pid",
              "troupe",
              "etcd",
              "profiles",
              "clients",
              "watchers",
              "writers",
              "ahead",
              "connections",
              "keys",
              "value-bytes",
              "warm-up",
              "duration",
              "server-warm-up",
              "quiet-wait",
              "rate",
              "history",
              "idle-watchers",
              "idle-streams",
              "idle-leases",
              "expiring-leases",
              "compact-every",
              "members",
              "leader",
              "rounds",
              "seed",
              "threads",
              "out",
              "work-dir",
              "tls",
              "auth",
              "jdks",
              "repeats",
              "builds",
              "windows",
              "sizes",
              "sorted",
              "settle",
              "snapshot",
              "ctl",
              "etcdutl"));

  static BenchSettings of(Options options) {
    Path home = Path.of(System.getProperty("troupe.home", ".")).toAbsolutePath().normalize();
    List<String> profiles = options.list("profiles", new ArrayList<>(Profiles.names()));
    for (String name : profiles) {
      if (!Profiles.names().contains(name)) {
        throw new IllegalArgumentException(
            "unknown profile \"" + name + "\"; known profiles: " + Profiles.names());
      }
    }
    if (options.has("endpoint") && (options.isOn("tls") || options.isOn("auth"))) {
      throw new IllegalArgumentException(
          "--tls and --auth apply to started servers only; use --endpoint https://host:port");
    }
    int members = options.integer("members", 1);
    if (members < 1) {
      throw new IllegalArgumentException("--members: 1 or more");
    }
    int leader = options.integer("leader", 1);
    if (leader < 1 || leader > members) {
      throw new IllegalArgumentException("--leader: 1 to --members, not " + leader);
    }
    LoadSettings load =
        new LoadSettings(
            options.integers("clients", List.of(1, 10, 100, 1000)),
            options.integers("watchers", List.of(1, 100, 1000)),
            options.integer("writers", 10),
            options.integer("ahead", 16),
            options.integer("connections", 10),
            options.integer("keys", 10_000),
            options.integer("value-bytes", 256),
            options.duration("warm-up", Duration.ofSeconds(2)),
            options.duration("duration", Duration.ofSeconds(5)),
            options.integer("rate", options.command().equals("scale") ? 100 : 2000),
            options.integer("history", 500_000),
            new OpenSizes(
                options.integer("idle-watchers", OpenSizes.DEFAULT.watchers()),
                options.integer("idle-streams", OpenSizes.DEFAULT.streams()),
                options.integer("idle-leases", OpenSizes.DEFAULT.leases()),
                options.integer("expiring-leases", OpenSizes.DEFAULT.expiring())),
            options.duration("compact-every", Duration.ZERO),
            options.duration("quiet-wait", Duration.ZERO),
            options.number("seed", 1));
    return new BenchSettings(
        home,
        Path.of(options.text("work-dir", System.getProperty("java.io.tmpdir") + "/troupe-bench"))
            .toAbsolutePath(),
        ServerCommand.troupe(options.text("troupe", home.resolve("bin/node").toString())),
        profiles,
        load,
        options.duration("server-warm-up", Duration.ofSeconds(10)),
        members,
        leader,
        options.integer("rounds", 3),
        options.integer("threads", 2),
        options.isOn("tls"),
        options.isOn("auth"));
  }
}
