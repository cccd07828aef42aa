package io.troupe.node.config;

import io.troupe.actors.apply.CompactionActor;
import io.troupe.actors.member.MemberSettings;
import io.troupe.actors.snapshot.TransferSettings;
import io.troupe.edge.connection.ConnectionLimits;
import io.troupe.edge.http.HttpSettings;
import io.troupe.lease.LeaseRules;
import io.troupe.model.MemoryBudget;
import io.troupe.node.config.FeatureGates.Feature;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.process.Version;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.wal.WalSettings;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.membership.MembershipRules;
import io.troupe.server.GatewaySettings;
import io.troupe.server.Logins;
import io.troupe.server.auth.Passwords;
import io.troupe.server.auth.SimpleTokens;
import io.troupe.server.auth.Tokens;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Derives the settings of the actors and the gateway from the configuration and the heap size. */
public final class DerivedSettings {
  /** L12. */
  private static final Duration CHECKPOINT_EVERY = Duration.ofMinutes(5);

  private static final Logger LOG = LoggerFactory.getLogger(DerivedSettings.class);

  /** Heap bytes of an idle HTTP/2 connection (ManyConnectionsIT). */
  private static final long CONNECTION_BYTES = 72 << 10;

  /** Heap bytes of an idle HTTP/2 connection with TLS. */
  private static final long SECURE_CONNECTION_BYTES = 180 << 10;

  private static final long LEAST_CONNECTIONS = 100;
  private static final long FREE_BYTES_PER_CONNECTION = 64 << 10;
  private static final int MOST_TOKENS = 1_000_000;
  private static final int LEAST_BCRYPT_COST = 4;
  private static final int MOST_BCRYPT_COST = 31;
  private static final int BCRYPT_COST = 10;
  private static final Duration TOKEN_TTL = Duration.ofMinutes(5);

  private DerivedSettings() {}

  /**
   * Recent entries, pending proposals and hot records may use an eighth of the heap each, messages
   * in flight to one follower and login tokens a thirty-second part each, responses a quarter. The
   * rest is for watches, the largest request ({@link SizeRules}), and the garbage collector.
   */
  private static long heapShare(int parts) {
    return Runtime.getRuntime().maxMemory() / parts;
  }

  /**
   * Returns the budget of memory that clients may use. Each connection may use a little even if the
   * budget is exhausted, so that small requests of all clients are served.
   */
  public static MemoryBudget clientMemory(NodeSettings settings) {
    long given = settings.clientMemoryBytes();
    return new MemoryBudget(given == 0 ? heapShare(4) : given, FREE_BYTES_PER_CONNECTION);
  }

  /**
   * Without a configured limit, all connections together may use an eighth of the heap while they
   * are idle; with TLS three sixteenths, for its buffers (decision 0189).
   */
  private static ConnectionLimits connections(NodeSettings settings) {
    ConnectionLimits given = settings.limits();
    long all = given.connections();
    if (all == 0) {
      long fitting =
          settings.clientTls().isPresent()
              ? heapShare(16) * 3 / SECURE_CONNECTION_BYTES
              : heapShare(8) / CONNECTION_BYTES;
      all = Math.max(LEAST_CONNECTIONS, fitting);
    }
    // A gateway may connect for a whole cluster from one address; other addresses keep a quarter.
    long perAddress = given.perAddress() == 0 ? Math.max(1, all / 4 * 3) : given.perAddress();
    return new ConnectionLimits(
        given.streams(), given.resetsPerSecond(), (int) all, (int) perAddress);
  }

  /** The settings of the actors. */
  public static MemberSettings member(NodeSettings settings) {
    RaftSettings defaults = RaftSettings.defaults();
    return new MemberSettings(
        new RaftSettings(
            settings.electionTicks(),
            1,
            defaults.maxEntriesPerAppend(),
            defaults.maxBytesPerAppend(),
            defaults.maxInflightAppends(),
            Math.min(defaults.maxInflightBytes(), heapShare(32)),
            settings.maxPendingProposals(),
            Math.min(defaults.maxLogBytesInMemory(), heapShare(8)),
            settings.diskStallTicks()),
        settings.heartbeatInterval(),
        settings.electionTimeout(),
        new WalSettings(settings.walSegmentBytes(), 1 << 20),
        new RocksSettings(
            settings.store().blockCacheBytes(),
            settings.store().writeBufferBytes(),
            2,
            RocksSettings.DEFAULT.maxOpenFiles(),
            0),
        Math.min(settings.store().hotRecordBytes(), heapShare(8)),
        settings.snapshots(),
        TransferSettings.of(settings.snapshotSendRateBytes()),
        settings.requestTimeout(),
        new CompactionActor.Settings(
            settings.compactionBatchLimit(), settings.compactionSleepInterval()),
        settings.watchStreamBufferBytes(),
        settings.maxRequestBytes() + 512L * 1024,
        settings.watchProgressNotifyInterval(),
        settings.slow().apply(),
        settings.features().isOn(Feature.LeaseCheckpoint) ? CHECKPOINT_EVERY : Duration.ZERO,
        settings.features().isOn(Feature.PriorityRequest),
        settings.versions().server());
  }

  /** Returns how callers authenticate. */
  public static Logins logins(NodeSettings settings) {
    int cores = Runtime.getRuntime().availableProcessors();
    try {
      return new Logins(
          Tokens.of(
              settings.auth().token(),
              tokenTtl(settings.auth()),
              (int) Math.min(MOST_TOKENS, heapShare(32) / SimpleTokens.TOKEN_BYTES),
              Clock.systemUTC()),
          // Half of the cores: logins must not block other work.
          new Passwords(bcryptCost(settings.auth()), Math.max(1, cores / 2)));
    } catch (IllegalArgumentException wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.auth-token = \""
              + settings.auth().token()
              + "\" is wrong: "
              + wrong.getMessage(),
          wrong);
    }
  }

  private static int bcryptCost(NodeSettings.Auth auth) {
    long given = auth.bcryptCost();
    if (given >= LEAST_BCRYPT_COST && given <= MOST_BCRYPT_COST) {
      return (int) given;
    }
    LOG.warn(
        "troupe.bcrypt-cost = {} is not between {} and {}: using {}",
        given,
        LEAST_BCRYPT_COST,
        MOST_BCRYPT_COST,
        BCRYPT_COST);
    return BCRYPT_COST;
  }

  private static Duration tokenTtl(NodeSettings.Auth auth) {
    if (!auth.tokenTtl().isZero()) {
      return auth.tokenTtl();
    }
    LOG.warn("troupe.auth-token-ttl = 0: using {} s", TOKEN_TTL.toSeconds());
    return TOKEN_TTL;
  }

  /** The settings of the HTTP side of client ports. */
  public static HttpSettings http(NodeSettings settings) {
    return new HttpSettings(
        Set.copyOf(settings.http().cors()),
        Set.copyOf(settings.http().hostWhitelist()),
        settings.http().profiling() || settings.log().level().equals("debug"),
        settings.http().jsonGateway(),
        settings.keepAlive(),
        connections(settings),
        settings.http().sharedPorts(),
        settings.http().statusPage(),
        Version.product() + " (" + Version.commit() + ", " + Version.commitDate() + ")");
  }

  /** The settings of the gateway. */
  public static GatewaySettings gateway(NodeSettings settings) {
    return new GatewaySettings(
        settings.maxRequestBytes(),
        settings.maxTxnOps(),
        settings.requestTimeout(),
        settings.electionTimeout(),
        heapShare(8),
        LeaseRules.minTtlSeconds(settings.electionTicks(), settings.heartbeatInterval().toMillis()),
        settings.quotaBackendBytes() == 0 ? 2L << 30 : settings.quotaBackendBytes(),
        settings.heartbeatInterval(),
        new MembershipRules.Limits(settings.strictReconfigCheck(), settings.maxLearners()),
        settings.slow().call(),
        settings.features().isOn(Feature.StopGRPCServiceOnDefrag),
        settings.features().isOn(Feature.PriorityRequest),
        settings.snapshotSendRateBytes());
  }
}
