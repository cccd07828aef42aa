package io.troupe.node;

import com.typesafe.config.Config;
import io.troupe.actors.snapshot.SnapshotSettings;
import io.troupe.grpc.http.ConnectionLimits;
import io.troupe.grpc.http.KeepAlive;
import io.troupe.grpc.service.UpkeepSettings;
import io.troupe.node.discovery.DiscoverySettings;
import io.troupe.node.discovery.SrvSettings;
import io.troupe.node.tls.TlsSettings;
import io.troupe.node.tracing.TracingSettings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The checked configuration, keys under {@code troupe} (conf/node.conf explains each). Immutable.
 *
 * @param walDir the log's own directory; empty: it is in the data directory
 * @param cacheDir what can be made again; may be shared with other members
 * @param listenClientUrls where clients are served, at least one
 * @param advertiseClientUrls what MemberList shows
 * @param initialCluster peer URLs of the first members, by name, in the order given; empty: this
 *     member alone
 * @param forceNewCluster continue alone, as the only member of the cluster; all others are lost
 * @param memoryMlock no memory of the process may be swapped out
 * @param strictReconfigCheck refuse changes of the membership that endanger the quorum (M5, M6)
 * @param maxLearners most learners at a time (M4)
 * @param limits of each client connection
 * @param clientMemoryBytes what clients may make this process hold; 0: it follows from the heap
 * @param http what there is besides gRPC
 * @param keepAlive pings on connections of clients
 * @param minFreeDiskBytes free space of the data directory's file system below which writes are
 *     refused
 * @param upkeep automatic compaction and comparisons with other members
 * @param features what is turned on by name
 * @param clientTls TLS of ports for clients, for those of their URLs that are https; empty: there
 *     is none of those
 * @param peerTls TLS between members, if their URLs are https; empty: they are not
 * @param slow limits above which the log reports an operation
 * @param tracing where calls are traced to; empty: nowhere
 * @param discovery where first members find each other; empty: nowhere
 * @param srv which records name the members; empty: none. Without both initialCluster does
 */
public record NodeSettings(
    String name,
    Path dataDir,
    Optional<Path> walDir,
    Path cacheDir,
    List<URI> listenClientUrls,
    List<String> advertiseClientUrls,
    List<URI> listenPeerUrls,
    List<String> initialAdvertisePeerUrls,
    Map<String, List<String>> initialCluster,
    String initialClusterToken,
    InitialState initialClusterState,
    boolean forceNewCluster,
    boolean memoryMlock,
    boolean strictReconfigCheck,
    int maxLearners,
    Duration heartbeatInterval,
    Duration electionTimeout,
    Duration diskStallTimeout,
    SnapshotSettings snapshots,
    long snapshotSendRateBytes,
    long walSegmentBytes,
    int maxRequestBytes,
    int maxTxnOps,
    ConnectionLimits limits,
    long clientMemoryBytes,
    int maxPendingProposals,
    long quotaBackendBytes,
    long minFreeDiskBytes,
    Duration watchProgressNotifyInterval,
    long watchStreamBufferBytes,
    int compactionBatchLimit,
    Duration compactionSleepInterval,
    Auth auth,
    Store store,
    Log log,
    Http http,
    KeepAlive keepAlive,
    UpkeepSettings upkeep,
    FeatureGates features,
    Optional<TlsSettings> clientTls,
    Optional<TlsSettings> peerTls,
    Slow slow,
    Optional<TracingSettings> tracing,
    Optional<DiscoverySettings> discovery,
    Optional<SrvSettings> srv) {

  /** What a member without data does. */
  public enum InitialState {
    /** It begins a cluster together with the others of initial-cluster. */
    NEW,
    /** It joins the cluster of the others, which added it before. */
    EXISTING
  }

  /**
   * Logins.
   *
   * @param token kind of the tokens: simple, jwt with its options, or empty for none (A5, A6)
   * @param tokenTtl how long an unused simple token is good; zero: the default
   * @param bcryptCost each step doubles the time of a login; what bcrypt does not have: the default
   */
  public record Auth(String token, Duration tokenTtl, long bcryptCost) {}

  /**
   * Memory of the state.
   *
   * @param blockCacheBytes cache of what is on disk
   * @param writeBufferBytes changes that are not on disk yet (the log holds them)
   * @param hotRecordBytes latest records of keys that are written often
   */
  public record Store(long blockCacheBytes, long writeBufferBytes, long hotRecordBytes) {}

  /**
   * Logging.
   *
   * @param level debug, info, warn or error
   * @param format text or json
   * @param outputs stderr, stdout, or paths of files; at least one
   * @param rotation of the only output, a file; empty: it grows
   */
  public record Log(
      String level, String format, List<String> outputs, Optional<LogRotation> rotation) {}

  /**
   * When a log file makes space for a new one.
   *
   * @param maxMegabytes its size then
   * @param maxDays older ones are deleted after so long; 0: never
   * @param maxFiles most older ones; 0: any number
   * @param compress older ones with gzip
   */
  public record LogRotation(int maxMegabytes, int maxDays, int maxFiles, boolean compress) {}

  /**
   * The log reports an operation that takes longer.
   *
   * @param apply an entry, from the log into the state
   * @param call a unary call
   */
  public record Slow(Duration apply, Duration call) {}

  /**
   * HTTP/1.1.
   *
   * @param listenUrls where it is served apart from gRPC; empty: on the client ports
   * @param metricsUrls where metrics and health are served besides
   * @param cors origins that browsers may call from
   * @param hostWhitelist host names that are served without TLS
   * @param profiling offer /debug/pprof
   * @param jsonGateway offer /v3/
   * @param extensiveMetrics with the time of each method's calls
   * @param sharedPorts all these ports, those of gRPC too, may be others' at the same time
   */
  public record Http(
      List<URI> listenUrls,
      List<URI> metricsUrls,
      List<String> cors,
      List<String> hostWhitelist,
      boolean profiling,
      boolean jsonGateway,
      boolean extensiveMetrics,
      boolean sharedPorts) {}

  /** Election timeout in ticks of one heartbeat interval. */
  public int electionTicks() {
    return (int) (electionTimeout.toMillis() / heartbeatInterval.toMillis());
  }

  /** The same in ticks, rounded up; 0 means never. */
  public int diskStallTicks() {
    long tick = heartbeatInterval.toMillis();
    return (int) ((diskStallTimeout.toMillis() + tick - 1) / tick);
  }

  /**
   * Where other members reach this one: the first of the advertised peer URLs as text. The state
   * keeps URLs in that order, so all members agree without knowing the setting.
   */
  public String peerUrl() {
    return initialAdvertisePeerUrls.stream().sorted().findFirst().orElseThrow();
  }

  /** What is bound for it: that URL if it is among the listen URLs, else the first of those. */
  public String boundPeerUrl() {
    return listenPeerUrls.stream()
        .map(URI::toString)
        .filter(peerUrl()::equals)
        .findFirst()
        .orElseGet(() -> listenPeerUrls.get(0).toString());
  }

  /** 5 s and two election timeouts (Q7). */
  public Duration requestTimeout() {
    return Duration.ofSeconds(5).plus(electionTimeout).plus(electionTimeout);
  }

  /**
   * Reads and checks.
   *
   * @param config complete, with the defaults behind it
   * @throws StartException naming key, value and what would be right
   */
  public static NodeSettings of(Config config) {
    return SettingsReader.read(config);
  }
}
