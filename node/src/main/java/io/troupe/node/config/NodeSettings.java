package io.troupe.node.config;

import com.typesafe.config.Config;
import io.troupe.actors.snapshot.SnapshotSettings;
import io.troupe.edge.connection.ConnectionLimits;
import io.troupe.edge.connection.KeepAlive;
import io.troupe.edge.http.StatusPageMode;
import io.troupe.node.backup.BackupSettings;
import io.troupe.node.discovery.DiscoverySettings;
import io.troupe.node.discovery.SrvSettings;
import io.troupe.node.process.StartException;
import io.troupe.node.tls.TlsSettings;
import io.troupe.node.tracing.TracingSettings;
import io.troupe.server.UpkeepSettings;
import io.troupe.server.VersionSettings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The checked configuration, keys under {@code troupe} (conf/node.conf explains each). Immutable.
 *
 * @param walDir separate directory of the log; empty: in the data directory
 * @param cacheDir files that can be created again; may be shared with other members
 * @param listenClientUrls URLs of the client ports, at least one
 * @param advertiseClientUrls client URLs in the response of MemberList
 * @param initialCluster peer URLs of the initial members, by name, in the order given; empty: this
 *     member alone
 * @param forceNewCluster continue as the only member of the cluster; all other members are lost
 * @param memoryMlock prevent the memory of the process from being swapped out
 * @param strictReconfigCheck refuse membership changes that endanger the quorum (M5, M6)
 * @param maxLearners maximum number of learners (M4)
 * @param limits of each client connection
 * @param clientMemoryBytes memory that clients may use; 0: derived from the heap size
 * @param http endpoints besides gRPC
 * @param keepAlive pings on connections of clients
 * @param minFreeDiskBytes free space of the data directory's file system below which writes are
 *     refused
 * @param upkeep automatic compaction and comparisons with other members
 * @param features features switched by name
 * @param clientTls TLS of client ports whose URL is https; empty: there is no such URL
 * @param peerTls TLS between members; empty: the peer URLs are not https
 * @param slow limits above which the log reports an operation
 * @param backup schedule of backups; empty: none are written
 * @param tracing collector of traces; empty: no tracing
 * @param discovery discovery service of initial members; empty: none
 * @param srv SRV records that name the initial members; empty: none. Without both, initialCluster
 *     names them
 * @param versions the version that this member serves, and the end of a downgrade
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
    Optional<BackupSettings> backup,
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
    Optional<SrvSettings> srv,
    VersionSettings versions) {

  /** How a member without data starts. */
  public enum InitialState {
    /** It forms a new cluster with the other members of initial-cluster. */
    NEW,
    /** It joins an existing cluster, which added it before. */
    EXISTING
  }

  /**
   * Logins.
   *
   * @param token kind of the tokens: simple, jwt with its options, or empty for none (A5, A6)
   * @param tokenTtl how long an unused simple token is valid; zero: the default
   * @param bcryptCost each step doubles the time of a login; out of bcrypt's range: the default
   */
  public record Auth(String token, Duration tokenTtl, long bcryptCost) {}

  /**
   * Memory of the state.
   *
   * @param blockCacheBytes cache of data on disk
   * @param writeBufferBytes changes that are not on disk yet (the log holds them)
   * @param hotRecordBytes latest records of frequently written keys
   */
  public record Store(long blockCacheBytes, long writeBufferBytes, long hotRecordBytes) {}

  /**
   * Logging.
   *
   * @param level debug, info, warn or error
   * @param format text or json
   * @param outputs stderr, stdout, or paths of files; at least one
   * @param rotation rotation of the only output, a file; empty: the file grows
   */
  public record Log(
      String level, String format, List<String> outputs, Optional<LogRotation> rotation) {}

  /**
   * Rotation of log files.
   *
   * @param maxMegabytes size at which a new file starts
   * @param maxDays age at which older files are deleted; 0: never
   * @param maxFiles maximum number of older files; 0: unlimited
   * @param compress compress older files with gzip
   */
  public record LogRotation(int maxMegabytes, int maxDays, int maxFiles, boolean compress) {}

  /**
   * Limits above which the log reports an operation.
   *
   * @param apply time to apply an entry to the state
   * @param call time of a unary call
   */
  public record Slow(Duration apply, Duration call) {}

  /**
   * HTTP/1.1.
   *
   * @param listenUrls separate ports; empty: served on the client ports
   * @param metricsUrls additional ports for metrics and health
   * @param cors origins that browsers may call from
   * @param hostWhitelist host names that are served without TLS
   * @param profiling serve /debug/pprof
   * @param jsonGateway serve /v3/
   * @param extensiveMetrics with histograms of the call times of each method
   * @param sharedPorts other processes may listen on these ports, and on those of gRPC, at the same
   *     time
   * @param statusPage when the page at / is served
   */
  public record Http(
      List<URI> listenUrls,
      List<URI> metricsUrls,
      List<String> cors,
      List<String> hostWhitelist,
      boolean profiling,
      boolean jsonGateway,
      boolean extensiveMetrics,
      boolean sharedPorts,
      StatusPageMode statusPage) {}

  /** Returns the election timeout in ticks of one heartbeat interval. */
  public int electionTicks() {
    return (int) (electionTimeout.toMillis() / heartbeatInterval.toMillis());
  }

  /** Returns the disk stall timeout in ticks, rounded up; 0 means never. */
  public int diskStallTicks() {
    long tick = heartbeatInterval.toMillis();
    return (int) ((diskStallTimeout.toMillis() + tick - 1) / tick);
  }

  /**
   * Returns the URL that names this member in its messages: the first of the advertised peer URLs
   * in text order. The state keeps URLs in that order, so all members agree without the setting.
   */
  public String peerUrl() {
    return initialAdvertisePeerUrls.stream().sorted().findFirst().orElseThrow();
  }

  /** Returns the peer URLs to listen on: each address once. */
  public List<URI> boundPeerUrls() {
    List<URI> bound = new ArrayList<>();
    for (URI url : listenPeerUrls) {
      if (bound.stream().noneMatch(other -> ListenAddress.isSame(url, other))) {
        bound.add(url);
      }
    }
    return List.copyOf(bound);
  }

  /** Returns 5 s plus two election timeouts (Q7). */
  public Duration requestTimeout() {
    return Duration.ofSeconds(5).plus(electionTimeout).plus(electionTimeout);
  }

  /**
   * Reads and checks the settings.
   *
   * @param config complete, including the defaults
   * @throws StartException that names key, value and the expected form
   */
  public static NodeSettings of(Config config) {
    return SettingsReader.read(config);
  }
}
