package io.troupe.actors.member;

import com.google.protobuf.ByteString;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.actors.apply.CompactionActor;
import io.troupe.actors.peers.PeerAddress;
import io.troupe.actors.peers.PeerDirectory;
import io.troupe.actors.peers.PeerListener;
import io.troupe.actors.peers.PeerNetwork;
import io.troupe.actors.peers.PeerTls;
import io.troupe.actors.snapshot.DiskCapacity;
import io.troupe.actors.snapshot.SnapshotSettings;
import io.troupe.actors.snapshot.TransferSettings;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.EtcdVersion;
import io.troupe.model.KeyRange;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.persistence.wal.WalSettings;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.protocol.codec.OperationCodec.ClientRequest;
import io.troupe.protocol.wire.WirePut;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.ConfChange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A whole member without its gateway, with real files, in its own actor system. */
final class TestMember implements AutoCloseable {
  static final KeyRange ALL = new KeyRange(Bytes.of(0), Bytes.of(0));

  private static final DiskCapacity ROOMY =
      new DiskCapacity() {
        @Override
        public boolean isLow() {
          return false;
        }

        @Override
        public long freeBytes() {
          return Long.MAX_VALUE;
        }
      };

  /**
   * What differs from test to test.
   *
   * @param snapshotCount entries from one snapshot to the next
   * @param diskStallTicks ticks of 50 ms after which a leader whose disk hangs steps down; 0 means
   *     never
   */
  record Options(long snapshotCount, int diskStallTicks) {}

  final NodeId id;
  final Queue<Throwable> broken = new ConcurrentLinkedQueue<>();
  private final Path root;
  private final Map<NodeId, String> urls;
  private final MemberSettings settings;
  private final int bindPort;
  private final @Nullable PeerTls tls;
  private @Nullable PeerNetwork network;
  private @Nullable ActorSystem<Void> system;
  private @Nullable MemberFiles files;
  private @Nullable MemberRefs refs;
  private volatile @Nullable HangingWal wal;
  private volatile MemberMetrics metrics = new MemberMetrics();

  /** Whether another member's snapshot was shown as being installed, at each opening of files. */
  final Queue<Boolean> installing = new ConcurrentLinkedQueue<>();

  TestMember(NodeId id, Path root, Map<NodeId, String> urls, Options options) {
    this(id, root, urls, options, PeerAddress.of(urls.getOrDefault(id, "")).port(), null);
  }

  /** A member whose port is not that of its URL, or that uses TLS. */
  TestMember(
      NodeId id,
      Path root,
      Map<NodeId, String> urls,
      Options options,
      int bindPort,
      @Nullable PeerTls tls) {
    this.bindPort = bindPort;
    this.tls = tls;
    this.id = id;
    this.root = root;
    this.urls = urls;
    this.settings = settings(options);
  }

  private static MemberSettings settings(Options options) {
    RaftSettings raft = RaftSettings.defaults();
    return new MemberSettings(
        new RaftSettings(
            10,
            1,
            64,
            256 << 10,
            raft.maxInflightAppends(),
            4 << 20,
            5000,
            64 << 10,
            options.diskStallTicks()),
        Duration.ofMillis(50),
        Duration.ofMillis(500),
        new WalSettings(4 << 20, 64 << 10),
        new RocksSettings(8 << 20, 4 << 20, 1, 64, 0),
        1 << 20,
        SnapshotSettings.of(options.snapshotCount(), Duration.ZERO),
        TransferSettings.of(64L << 20),
        Duration.ofSeconds(5),
        new CompactionActor.Settings(100, Duration.ZERO),
        1 << 20,
        1 << 20,
        Duration.ofHours(1),
        Duration.ofSeconds(1),
        Duration.ofSeconds(1),
        false,
        new EtcdVersion(3, 7, 1));
  }

  /** Starts or restarts it. */
  void start() {
    DataDir dataDir = DataDir.open(root);
    if (dataDir.identity() == null) {
      bootstrap(dataDir);
    }
    MemberMetrics counts = new MemberMetrics();
    metrics = counts;
    MemberFiles opened =
        MemberFiles.open(
            dataDir,
            settings,
            counts,
            log -> {
              installing.add(
                  ShownMetrics.value(counts, "etcd_server_snapshot_apply_in_progress_total") == 1);
              HangingWal made = new HangingWal(log);
              wal = made;
              return made;
            });
    PeerDirectory directory = new PeerDirectory();
    Map<NodeId, List<String>> known = new TreeMap<>();
    urls.forEach((member, url) -> known.put(member, List.of(url)));
    directory.replace(known, Set.of());
    PeerAddress listen = new PeerAddress(PeerAddress.of(url()).host(), bindPort);
    PeerNetwork connections;
    try {
      connections =
          PeerNetwork.open(
              new PeerNetwork.Settings(url(), null, 0, new EtcdVersion(3, 7, 1)),
              List.of(PeerListener.tcp(listen, PeerNetwork.BACKLOG)),
              tls,
              broken::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    network = connections;
    Config config = ConfigFactory.parseResources("members.conf").withFallback(ConfigFactory.load());
    ActorSystemSetup setup = ActorSystemSetup.create(BootstrapSetup.create(config));
    CompletableFuture<MemberRefs> spawned = new CompletableFuture<>();
    system =
        ActorSystem.create(
            MemberGuardian.create(
                CompletableFuture.completedFuture(opened),
                settings,
                new MemberGuardian.Peering(
                    connections, directory, url(), membership -> {}, new CompletableFuture<>()),
                ROOMY,
                System.currentTimeMillis(),
                spawned,
                broken::add),
            "troupe",
            setup);
    files = opened;
    refs = spawned.join();
  }

  private String url() {
    return urls.getOrDefault(id, "");
  }

  /** The first entry of the log is the membership, the same on all members. */
  private void bootstrap(DataDir dataDir) {
    dataDir.bootstrap(new MemberIdentity(4711, id, "m" + id, List.of(url()), "test"));
    List<ConfChange> members =
        new TreeMap<>(urls)
            .entrySet().stream()
                .map(
                    member ->
                        new ConfChange(
                            ConfChange.Kind.ADD_VOTER, member.getKey(), List.of(member.getValue())))
                .toList();
    RaftState first = RaftState.bootstrap(id, members);
    try (ChronicleWal wal =
        ChronicleWal.open(dataDir.wal(), settings.wal(), WalReplay.read(dataDir.wal(), 0))) {
      wal.append(first.hardState(), first.entries());
      wal.sync();
    }
  }

  boolean isUp() {
    return system != null;
  }

  MemberRefs refs() {
    MemberRefs running = refs;
    if (running == null) {
      throw new IllegalStateException(id + " is down");
    }
    return running;
  }

  /** Metrics of its latest start. */
  MemberMetrics metrics() {
    return metrics;
  }

  /** The log of its latest start. */
  HangingWal wal() {
    HangingWal latest = wal;
    if (latest == null) {
      throw new IllegalStateException(id + " was never up");
    }
    return latest;
  }

  ActorSystem<Void> system() {
    ActorSystem<Void> running = system;
    if (running == null) {
      throw new IllegalStateException(id + " is down");
    }
    return running;
  }

  boolean leads() {
    return isUp() && refs().status().leader().equals(id);
  }

  /** Proposes a put through this member's actors. */
  CompletionStage<ProposeReply> put(String key, byte[] value) {
    RequestId request = refs().ids().next();
    WirePut put =
        WirePut.newBuilder()
            .setKey(ByteString.copyFromUtf8(key))
            .setValue(ByteString.copyFrom(value))
            .build();
    Bytes operation =
        OperationCodec.embed(
            request, Requester.ANONYMOUS, ClientRequest.PUT, Bytes.wrap(put.toByteArray()));
    return AskPattern.ask(
        refs().raft(),
        replyTo -> new RaftCommand.Propose(request, operation, replyTo::tell),
        Duration.ofSeconds(3),
        system().scheduler());
  }

  /** Leases in its state. */
  List<Lease> leases() {
    MemberFiles opened = files;
    if (opened == null) {
      throw new IllegalStateException(id + " is down");
    }
    return opened.machine().reader().leases();
  }

  /** Directory of its state; not to be opened while the member is up. */
  Path state() {
    return root.resolve("state");
  }

  Path snapshots() {
    return root.resolve("snapshots");
  }

  /** Stops it without notice to its peers. */
  @Override
  public void close() {
    ActorSystem<Void> running = system;
    MemberFiles opened = files;
    PeerNetwork connections = network;
    network = null;
    system = null;
    refs = null;
    files = null;
    if (running != null) {
      running.terminate();
      Awaitility.await("end of the actor system")
          .atMost(Duration.ofSeconds(20))
          .until(() -> running.getWhenTerminated().toCompletableFuture().isDone());
    }
    if (connections != null) {
      connections.close();
    }
    if (opened != null) {
      opened.close();
    }
  }
}
