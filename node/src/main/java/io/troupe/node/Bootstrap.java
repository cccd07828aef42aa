package io.troupe.node;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.protocol.MemberIds;
import io.troupe.protocol.PeerAnswer;
import io.troupe.protocol.PeerAnswer.KnownMember;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who a member without data is: one of the first members of a new cluster (8.3), or one that was
 * added to a running cluster, which knows its id (B2).
 */
final class Bootstrap {
  private static final Logger LOG = LoggerFactory.getLogger(Bootstrap.class);

  private static final Comparator<List<String>> BY_URLS =
      Comparator.comparing(urls -> String.join(",", urls));

  private static final PeerAnswer NOBODY = new PeerAnswer.Refused(Refusal.TIMED_OUT);

  private final NodeSettings settings;
  private final InitialCluster cluster;
  private final PeerQueries peers;
  private final Duration timeout;

  /**
   * A start without data.
   *
   * @param peers asks the other members, by the URLs of initial-cluster
   * @param timeout for the answer of one of them
   */
  Bootstrap(NodeSettings settings, InitialCluster cluster, PeerQueries peers, Duration timeout) {
    this.settings = settings;
    this.cluster = cluster;
    this.peers = peers;
    this.timeout = timeout;
  }

  /**
   * The identity to begin with.
   *
   * @throws StartException if the other members say that it cannot be so, or if a member that joins
   *     reaches none of them
   */
  MemberIdentity identity() throws InterruptedException {
    return settings.initialClusterState() == NodeSettings.InitialState.NEW ? first() : joining();
  }

  private MemberIdentity first() throws InterruptedException {
    SortedMap<NodeId, List<String>> members = new TreeMap<>();
    cluster
        .members()
        .values()
        .forEach(
            urls -> members.put(MemberIds.initial(urls, settings.initialClusterToken()), urls));
    NodeId self = MemberIds.initial(cluster.own(), settings.initialClusterToken());
    requireNotBootstrapped(self);
    return identity(MemberIds.cluster(members.keySet()), self, false, members);
  }

  /** B3: a lost data directory must not make a second member with the same id. */
  private void requireNotBootstrapped(NodeId self) throws InterruptedException {
    List<CompletableFuture<PeerAnswer>> asked = new ArrayList<>();
    for (String url : cluster.others()) {
      asked.add(ask(url));
    }
    for (CompletableFuture<PeerAnswer> one : asked) {
      PeerAnswer answer = await(one);
      if (answer instanceof PeerAnswer.Members known
          && known.members().stream()
              .anyMatch(member -> member.id().equals(self) && !member.clientUrls().isEmpty())) {
        throw refused(
            "member "
                + self
                + " has already been bootstrapped; to replace a member whose data is lost, remove"
                + " it, add it anew, and start it with troupe.initial-cluster-state = \"existing\"");
      }
    }
  }

  private MemberIdentity joining() throws InterruptedException {
    for (String url : cluster.others()) {
      if (await(ask(url)) instanceof PeerAnswer.Members known) {
        NodeId self = matching(known);
        SortedMap<NodeId, List<String>> members = new TreeMap<>();
        known.members().forEach(member -> members.put(member.id(), member.peerUrls()));
        return identity(known.clusterId(), self, true, members);
      }
    }
    throw new StartException(
        ExitCode.UNEXPECTED,
        "cannot fetch cluster info from peer urls: could not retrieve cluster information from the"
            + " given URLs "
            + cluster.others());
  }

  /** B2: the members that the setting names must be those that the cluster has, by their URLs. */
  private NodeId matching(PeerAnswer.Members known) {
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

  private CompletableFuture<PeerAnswer> ask(String url) {
    return peers.ask(url, PeerQuery.MembersQuery.INSTANCE, timeout).toCompletableFuture();
  }

  /** Whoever does not answer is as if he were not there. */
  private PeerAnswer await(CompletableFuture<PeerAnswer> asked) throws InterruptedException {
    try {
      return asked.get();
    } catch (ExecutionException e) {
      LOG.debug("no answer from a peer: {}", String.valueOf(e.getCause()));
      return NOBODY;
    }
  }

  private static StartException refused(String why) {
    return new StartException(ExitCode.CONFIGURATION, why);
  }
}
