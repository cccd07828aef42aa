package io.troupe.node.flags;

import static io.troupe.node.flags.Flag.Type.BOOL;
import static io.troupe.node.flags.Flag.Type.CLUSTER_STATE;
import static io.troupe.node.flags.Flag.Type.DURATION;
import static io.troupe.node.flags.Flag.Type.MILLIS;
import static io.troupe.node.flags.Flag.Type.NUMBER;
import static io.troupe.node.flags.Flag.Type.SECONDS;
import static io.troupe.node.flags.Flag.Type.TEXT;
import static io.troupe.node.flags.Flag.Type.UNSIGNED;
import static io.troupe.node.flags.Flag.Type.URLS;
import static io.troupe.node.flags.Flag.Type.V2_STAGE;
import static io.troupe.node.flags.Flag.noEffect;
import static io.troupe.node.flags.Flag.refused;
import static io.troupe.node.flags.Flag.setting;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Table of all server flags of etcd 3.7 (section 4.2). docs/flags.md shows it. */
final class EtcdFlags {
  private static final String CLIENT_TLS = "client-transport-security.";
  private static final String PEER_TLS = "peer-transport-security.";
  private static final String ASKED_AGAIN = "discovery asks again each time";
  private static final String NO_BBOLT = "the state is in RocksDB, which has no such thing";

  /** etcd's warnings about deprecated flags, logged for any value. */
  private static final Map<String, String> DEPRECATED =
      Map.of(
          "max-snapshots",
          "--max-snapshots is deprecated in 3.6 and will be decommissioned in 3.8.",
          "v2-deprecation",
          "--v2-deprecation is deprecated and scheduled for removal in v3.8. The default value is"
              + " enforced, ignoring user input.");

  private static final Map<String, Flag> ALL = new LinkedHashMap<>();

  private EtcdFlags() {}

  /** Returns all flags by name, in the order of the reference. */
  static Map<String, Flag> all() {
    return Collections.unmodifiableMap(ALL);
  }

  /** Returns the log lines about deprecated flags among the given ones. */
  static List<DeferredLogLine> deprecated(Set<String> given) {
    return given.stream()
        .filter(DEPRECATED::containsKey)
        .sorted()
        .map(name -> DeferredLogLine.warning(DEPRECATED.getOrDefault(name, "")))
        .toList();
  }

  static {
    for (List<Flag> part :
        List.of(member(), cluster(), discovery(), security(), http(), upkeep(), old())) {
      part.forEach(flag -> ALL.put(flag.name(), flag));
    }
  }

  private static List<Flag> member() {
    return List.of(
        setting("name", TEXT, "default"),
        setting("data-dir", TEXT, ""),
        setting("wal-dir", TEXT, ""),
        setting("snapshot-count", UNSIGNED, "10000"),
        noEffect("snapshot-catchup-entries", UNSIGNED, "5000", "the log's files serve followers"),
        setting("heartbeat-interval", MILLIS, "100"),
        setting("election-timeout", MILLIS, "1000"),
        noEffect("initial-election-tick-advance", BOOL, "true", "elections begin at once anyway"),
        setting("listen-peer-urls", URLS, "http://localhost:2380"),
        setting("listen-client-urls", URLS, "http://localhost:2379"),
        setting("listen-client-http-urls", URLS, ""),
        noEffect("max-snapshots", UNSIGNED, "5", "the last two are kept"),
        noEffect("max-wals", UNSIGNED, "5", "the log is cut behind each snapshot"),
        setting("memory-mlock", BOOL, "false"),
        setting("quota-backend-bytes", NUMBER, "0"),
        noEffect("backend-bbolt-freelist-type", TEXT, "map", NO_BBOLT),
        noEffect("backend-batch-interval", DURATION, "0s", NO_BBOLT),
        noEffect("backend-batch-limit", NUMBER, "0", NO_BBOLT),
        setting("max-txn-ops", UNSIGNED, "128"),
        setting("max-request-bytes", UNSIGNED, "1572864"),
        setting("max-concurrent-streams", UNSIGNED, "4294967295"),
        setting("grpc-keepalive-min-time", DURATION, "5s"),
        setting("grpc-keepalive-interval", DURATION, "2h"),
        setting("grpc-keepalive-timeout", DURATION, "20s"),
        setting("socket-reuse-port", BOOL, "false"),
        noEffect("socket-reuse-address", BOOL, "false", "always so"),
        noEffect("raft-read-timeout", DURATION, "5s", "pings show whether a connection works"),
        noEffect("raft-write-timeout", DURATION, "5s", "pings show whether a connection works"));
  }

  private static List<Flag> cluster() {
    return List.of(
        setting("initial-advertise-peer-urls", URLS, "http://localhost:2380"),
        setting("initial-cluster", TEXT, "default=http://localhost:2380"),
        setting("initial-cluster-state", CLUSTER_STATE, "new"),
        setting("initial-cluster-token", TEXT, "etcd-cluster"),
        setting("advertise-client-urls", URLS, "http://localhost:2379"),
        setting("strict-reconfig-check", BOOL, "true"),
        noEffect("pre-vote", BOOL, "true", "always so"),
        setting("max-learners", NUMBER, "1"),
        setting("force-new-cluster", BOOL, "false"),
        noEffect("unsafe-no-fsync", BOOL, "false", "writes are always forced to the disk"),
        noEffect("v2-deprecation", V2_STAGE, "write-only", "there is no v2 store"));
  }

  private static List<Flag> discovery() {
    return List.of(
        setting("discovery-token", TEXT, "", "discovery.token"),
        setting("discovery-endpoints", TEXT, "", "discovery.endpoints"),
        setting("discovery-dial-timeout", DURATION, "2s", "discovery.dial-timeout"),
        setting("discovery-request-timeout", DURATION, "5s", "discovery.request-timeout"),
        noEffect("discovery-keepalive-time", DURATION, "2s", ASKED_AGAIN),
        noEffect("discovery-keepalive-timeout", DURATION, "6s", ASKED_AGAIN),
        setting("discovery-insecure-transport", BOOL, "true", "discovery.insecure-transport"),
        setting(
            "discovery-insecure-skip-tls-verify",
            BOOL,
            "false",
            "discovery.insecure-skip-tls-verify"),
        setting("discovery-cert", TEXT, "", "discovery.cert-file"),
        setting("discovery-key", TEXT, "", "discovery.key-file"),
        setting("discovery-cacert", TEXT, "", "discovery.trusted-ca-file"),
        setting("discovery-user", TEXT, "", "discovery.user"),
        setting("discovery-password", TEXT, "", "discovery.password"),
        refused("discovery-fallback", TEXT, "exit", "only exit is possible"),
        setting("discovery-srv", TEXT, "", "discovery.srv"),
        setting("discovery-srv-name", TEXT, "", "discovery.srv-name"));
  }

  private static List<Flag> security() {
    List<Flag> all = new ArrayList<>();
    // Except for the exceptions, their keys have the flag's name in a block (4.4).
    for (String file :
        List.of(
            "cert-file",
            "key-file",
            "client-cert-file",
            "client-key-file",
            "trusted-ca-file",
            "peer-cert-file",
            "peer-key-file",
            "peer-client-cert-file",
            "peer-client-key-file",
            "peer-trusted-ca-file")) {
      all.add(setting(file, TEXT, "", transport(file)));
    }
    all.add(setting("client-crl-file", TEXT, "", CLIENT_TLS + "crl-file"));
    all.add(setting("peer-crl-file", TEXT, "", PEER_TLS + "crl-file"));
    all.add(setting("client-cert-allowed-hostname", TEXT, "", CLIENT_TLS + "allowed-hostname"));
    all.add(setting("peer-cert-allowed-cn", TEXT, "", PEER_TLS + "allowed-cn"));
    all.add(setting("peer-cert-allowed-hostname", TEXT, "", PEER_TLS + "allowed-hostname"));
    for (String wish :
        List.of(
            "client-cert-auth",
            "auto-tls",
            "peer-client-cert-auth",
            "peer-auto-tls",
            "peer-skip-client-san-verification")) {
      all.add(setting(wish, BOOL, "false", transport(wish)));
    }
    all.add(setting("self-signed-cert-validity", UNSIGNED, "1"));
    all.add(setting("cipher-suites", TEXT, ""));
    all.add(setting("tls-min-version", TEXT, "TLS1.2"));
    all.add(setting("tls-max-version", TEXT, ""));
    all.add(setting("auth-token", TEXT, "simple"));
    all.add(setting("bcrypt-cost", UNSIGNED, "10"));
    all.add(setting("auth-token-ttl", SECONDS, "300"));
    return all;
  }

  private static String transport(String flag) {
    return flag.startsWith("peer-")
        ? PEER_TLS + flag.substring("peer-".length())
        : CLIENT_TLS + flag;
  }

  private static List<Flag> http() {
    return List.of(
        setting("cors", TEXT, "*"),
        setting("host-whitelist", TEXT, "*"),
        setting("enable-pprof", BOOL, "false"),
        setting("metrics", TEXT, "basic"),
        setting("listen-metrics-urls", URLS, ""),
        setting("enable-distributed-tracing", BOOL, "false", "tracing.enabled"),
        setting("distributed-tracing-address", TEXT, "localhost:4317", "tracing.address"),
        setting("distributed-tracing-service-name", TEXT, "etcd", "tracing.service-name"),
        setting("distributed-tracing-instance-id", TEXT, "", "tracing.instance-id"),
        setting("distributed-tracing-sampling-rate", NUMBER, "0", "tracing.sampling-rate"),
        refused("logger", TEXT, "zap", "only the default is possible"),
        setting("log-outputs", TEXT, "default", "log.outputs"),
        setting("log-level", TEXT, "info", "log.level"),
        setting("log-format", TEXT, "json", "log.format"),
        setting("enable-log-rotation", BOOL, "false", "log.rotate"),
        setting("log-rotation-config-json", TEXT, rotation(), "log.rotation"),
        setting("warning-apply-duration", DURATION, "100ms"),
        setting("warning-unary-request-duration", DURATION, "300ms"),
        setting("enable-grpc-gateway", BOOL, "true"));
  }

  private static String rotation() {
    return "{\"maxsize\": 100, \"maxage\": 0, \"maxbackups\": 0, \"localtime\": false,"
        + " \"compress\": false}";
  }

  private static List<Flag> upkeep() {
    return List.of(
        setting("auto-compaction-retention", TEXT, "0"),
        setting("auto-compaction-mode", TEXT, "periodic"),
        setting("corrupt-check-time", DURATION, "0s"),
        setting("compact-hash-check-time", DURATION, "1m"),
        setting("compaction-batch-limit", NUMBER, "0"),
        setting("compaction-sleep-interval", DURATION, "0s"),
        setting("watch-progress-notify-interval", DURATION, "0s"),
        setting("downgrade-check-time", DURATION, "5s"),
        noEffect("bootstrap-defrag-threshold-megabytes", UNSIGNED, "0", NO_BBOLT),
        setting("feature-gates", TEXT, ""),
        noEffect("config-file", TEXT, "", "the file to read instead of flags and variables"),
        noEffect("version", BOOL, "false", "prints the version"));
  }

  private static List<Flag> old() {
    return List.of(
            "cluster-active-size",
            "cluster-remove-delay",
            "cluster-sync-interval",
            "config",
            "force",
            "max-result-buffer",
            "max-retry-attempts",
            "peer-heartbeat-interval",
            "peer-election-timeout",
            "retry-interval",
            "snapshot",
            "v",
            "vv")
        .stream()
        .map(Flag::ignored)
        .toList();
  }
}
