package io.troupe.node.start;

import io.troupe.actors.peers.PeerAddress;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.process.Version;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.protocol.MemberIds;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.PeerReply.KnownMember;
import io.troupe.version.VersionRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Determines the identity of a member without data. It is either one of the initial members of a
 * new cluster (8.3), or it was added to a running cluster, which knows its id (B2).
 */
final class Bootstrap {
  private static final Logger LOG = LoggerFactory.getLogger(Bootstrap.class);

  private static final Comparator<List<String>> BY_URLS =
      Comparator.comparing(urls -> String.join(",", urls));

  /** Pause between two attempts of a member that joins. */
  private static final Duration PAUSE = Duration.ofMillis(200);

  /** Stands for the reply of a peer that does not reply. */
  static final PeerReply NO_REPLY = new PeerReply.Refused(Refusal.TIMED_OUT);

  /** Timeout of one query to a peer when a member without data starts. */
  static final Duration ASK_PEER = Duration.ofSeconds(1);

  /**
   * Time for the reply of a peer that accepts connections: a busy peer may need several queries.
   */
  private static final Duration ASK_LISTENING = Duration.ofSeconds(15);

  private static final int CONNECT_MS = 500;

  /** How long a member that joins queries peers for its identity before the start fails. */
  private static final Duration ASK_TO_JOIN = Duration.ofSeconds(30);

  private final NodeSettings settings;
  private final InitialCluster cluster;
  private final PeerQueries peers;
  private final Duration timeout;
  private final Duration joinTimeout;

  /**
   * Creates the bootstrap of one start.
   *
   * @param peers queries the other members, by the URLs of initial-cluster
   * @param timeout of one query
   * @param joinTimeout how long a member that joins repeats its queries
   */
  Bootstrap(
      NodeSettings settings,
      InitialCluster cluster,
      PeerQueries peers,
      Duration timeout,
      Duration joinTimeout) {
    this.joinTimeout = joinTimeout;
    this.settings = settings;
    this.cluster = cluster;
    this.peers = peers;
    this.timeout = timeout;
  }

  /**
   * Creates the identity of a data directory that has none.
   *
   * @throws StartException as {@link #identity} and {@link FirstMembers#of}
   */
  static void identify(DataDir dataDir, NodeSettings settings, PeerQueries peers)
      throws InterruptedException {
    MemberIdentity identity = dataDir.identity();
    if (identity == null) {
      identity =
          new Bootstrap(settings, FirstMembers.of(settings), peers, ASK_PEER, ASK_TO_JOIN)
              .identity();
      dataDir.bootstrap(identity);
      LOG.info(
          "bootstrapped a new member name={} member-id={} cluster-id={} state={} data-dir={}",
          settings.name(),
          identity.memberId(),
          Long.toHexString(identity.clusterId()),
          settings.initialClusterState(),
          dataDir.root());
    } else {
      // Bootstrap settings are ignored once data exists (F6).
      LOG.info(
          "found data of member name={} member-id={} cluster-id={} data-dir={}",
          identity.name(),
          identity.memberId(),
          Long.toHexString(identity.clusterId()),
          dataDir.root());
    }
  }

  /**
   * Returns the identity for the first start.
   *
   * @throws StartException if the replies of other members contradict the settings, or if a member
   *     that joins reaches no peer
   */
  MemberIdentity identity() throws InterruptedException {
    return settings.initialClusterState() == NodeSettings.InitialState.NEW ? first() : joining();
  }

  private MemberIdentity first() throws InterruptedException {
    SortedMap<NodeId, List<String>> members = new TreeMap<>();
    cluster
        .members()
        .values()
        .forEach(urls -> members.put(MemberIds.initial(urls, cluster.token()), urls));
    NodeId self = MemberIds.initial(cluster.own(), cluster.token());
    requireNotBootstrapped(self);
    return identity(MemberIds.cluster(members.keySet()), self, false, members);
  }

  /** B3: after the loss of a data directory there must be no second member with the same id. */
  private void requireNotBootstrapped(NodeId self) throws InterruptedException {
    for (PeerReply answer : askAll()) {
      if (answer instanceof PeerReply.Members known
          && known.members().stream()
              .anyMatch(member -> member.id().equals(self) && !member.clientUrls().isEmpty())) {
        throw refused(
            "member "
                + self
                + " has already been bootstrapped; to replace a member whose data is lost, remove"
                + " it, add it again, and start it with troupe.initial-cluster-state = \"existing\"");
      }
    }
  }

  /**
   * The reply of one peer that knows this member is enough, because other peers may not have
   * applied its addition yet. So the start fails only if all replies mismatch, or if none matches
   * before the timeout.
   */
  private MemberIdentity joining() throws InterruptedException {
    long end = System.nanoTime() + joinTimeout.toNanos();
    while (true) {
      List<PeerReply> answers =
          askAll(
              peers,
              cluster.others(),
              new PeerQuery.JoinQuery(settings.versions().server()),
              timeout);
      StartException mismatch = null;
      boolean allKnow = true;
      for (PeerReply answer : answers) {
        if (answer instanceof PeerReply.Refused refused
            && refused.reason() == Refusal.INCOMPATIBLE_VERSION) {
          mismatch = new StartException(ExitCode.VERSION, refused.text());
          continue;
        }
        if (!(answer instanceof PeerReply.Members known)) {
          allKnow = false;
          continue;
        }
        try {
          return joining(known);
        } catch (StartException other) {
          mismatch = other;
        }
      }
      if (mismatch != null && (allKnow || System.nanoTime() - end >= 0)) {
        throw mismatch;
      }
      if (answers.isEmpty() || System.nanoTime() - end >= 0) {
        throw new StartException(
            ExitCode.UNEXPECTED,
            "cannot fetch cluster info from peer urls: could not retrieve cluster information from"
                + " the given URLs "
                + cluster.others().stream().flatMap(List::stream).toList());
      }
      TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
    }
  }

  private MemberIdentity joining(PeerReply.Members known) {
    String refusal = VersionRules.refuseJoin(settings.versions().server(), known.versions());
    if (refusal != null) {
      throw new StartException(ExitCode.VERSION, refusal);
    }
    NodeId self = matching(known);
    SortedMap<NodeId, List<String>> members = new TreeMap<>();
    known.members().forEach(member -> members.put(member.id(), member.peerUrls()));
    return identity(known.clusterId(), self, true, members);
  }

  /** B2: the members that the setting names must be those that the cluster has, by their URLs. */
  private NodeId matching(PeerReply.Members known) {
    List<List<String>> configured = cluster.members().values().stream().sorted(BY_URLS).toList();
    List<KnownMember> existing =
        known.members().stream()
            .sorted(Comparator.comparing(KnownMember::peerUrls, BY_URLS))
            .toList();
    if (configured.size() != existing.size()) {
      throw refused(
          "member count is unequal: troupe.initial-cluster names "
              + configured.size()
              + ", the cluster has "
              + existing.size()
              + " "
              + existing.stream().map(KnownMember::peerUrls).toList());
    }
    NodeId self = NodeId.NONE;
    for (int i = 0; i < existing.size(); i++) {
      KnownMember member = existing.get(i);
      if (!member.peerUrls().equals(configured.get(i))) {
        throw refused(
            "PeerURLs: no match found for existing member ("
                + member.id()
                + ", "
                + member.peerUrls()
                + ") in troupe.initial-cluster = "
                + cluster.members());
      }
      if (member.peerUrls().equals(cluster.own())) {
        self = member.id();
      }
    }
    return self;
  }

  private MemberIdentity identity(
      long clusterId, NodeId self, boolean joins, SortedMap<NodeId, List<String>> members) {
    return new MemberIdentity(
        clusterId,
        self,
        settings.name(),
        settings.initialAdvertisePeerUrls(),
        joins,
        members,
        Version.product());
  }

  /** Returns the replies of all other members, in the order of {@link InitialCluster#others}. */
  private List<PeerReply> askAll() throws InterruptedException {
    return askAll(peers, cluster.others(), PeerQuery.MembersQuery.INSTANCE, timeout);
  }

  /**
   * Sends a query for the members to all peers at the same time. A peer that accepts connections
   * but does not reply in time is queried again: on a busy machine a connection may take longer,
   * and ignoring that peer could create a second member with the same id.
   *
   * @param members peer URLs of each; the first reply from one of them counts
   * @param timeout of one query
   * @return in the order of {@code members}; {@link #NO_REPLY} for a peer that does not reply
   */
  static List<PeerReply> askAll(
      PeerQueries peers, List<List<String>> members, PeerQuery query, Duration timeout)
      throws InterruptedException {
    List<List<CompletableFuture<PeerReply>>> asked = new ArrayList<>();
    for (List<String> urls : members) {
      asked.add(ask(peers, urls, query, timeout));
    }
    long end = System.nanoTime() + ASK_LISTENING.toNanos();
    List<PeerReply> answers = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      List<String> urls = members.get(i);
      PeerReply answer = await(asked.get(i));
      while (answer.equals(NO_REPLY)
          && System.nanoTime() - end < 0
          && urls.stream().anyMatch(Bootstrap::listens)) {
        LOG.info("no reply from a peer that accepts connections, retrying peer-urls={}", urls);
        answer = await(ask(peers, urls, query, timeout));
      }
      answers.add(answer);
    }
    return answers;
  }

  private static List<CompletableFuture<PeerReply>> ask(
      PeerQueries peers, List<String> urls, PeerQuery query, Duration timeout) {
    return urls.stream().map(url -> peers.ask(url, query, timeout).toCompletableFuture()).toList();
  }

  /** Returns the first reply; {@link #NO_REPLY} if there is none. */
  private static PeerReply await(List<CompletableFuture<PeerReply>> asked)
      throws InterruptedException {
    for (CompletableFuture<PeerReply> each : asked) {
      PeerReply answer = await(each);
      if (!answer.equals(NO_REPLY)) {
        return answer;
      }
    }
    return NO_REPLY;
  }

  private static boolean listens(String url) {
    PeerAddress peer = PeerAddress.of(url);
    try {
      if (peer.socket() != null) {
        SocketChannel.open(UnixDomainSocketAddress.of(peer.socket())).close();
        return true;
      }
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(peer.bareHost(), peer.port()), CONNECT_MS);
        return true;
      }
    } catch (IOException refused) {
      LOG.debug("cannot connect to peer peer-url={} reason={}", url, refused.toString());
      return false;
    }
  }

  /** A peer that does not reply counts as absent. */
  private static PeerReply await(CompletableFuture<PeerReply> asked) throws InterruptedException {
    try {
      return asked.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof TimeoutException) {
        LOG.debug("no reply from a peer reason={}", cause.getMessage());
        return NO_REPLY;
      }
      // The peer is not the cause: this member cannot send queries, and must not guess.
      throw new StartException(ExitCode.UNEXPECTED, "cannot query the other members: " + cause, e);
    }
  }

  private static StartException refused(String why) {
    return new StartException(ExitCode.CONFIGURATION, why);
  }
}
