package io.troupe.server;

import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Queries the server versions of all members (V1). */
final class MemberVersions {
  private final Member member;
  private final PeerQueries peers;
  private final Duration timeout;

  /**
   * Creates the queries of one member.
   *
   * @param timeout of the query to one URL
   */
  MemberVersions(Member member, PeerQueries peers, Duration timeout) {
    this.member = member;
    this.peers = peers;
    this.timeout = timeout;
  }

  /** The version of each current member, by id; empty for a member that does not reply. */
  CompletionStage<SortedMap<NodeId, Optional<EtcdVersion>>> ask() {
    ClusterView view = member.state().cluster();
    SortedMap<NodeId, CompletableFuture<Optional<EtcdVersion>>> asked = new TreeMap<>();
    for (NodeId id : view.membership().members()) {
      asked.put(id, ask(id, view.peerUrls().getOrDefault(id, List.of())).toCompletableFuture());
    }
    return CompletableFuture.allOf(asked.values().toArray(CompletableFuture<?>[]::new))
        .thenApply(
            all -> {
              SortedMap<NodeId, Optional<EtcdVersion>> versions = new TreeMap<>();
              asked.forEach((id, version) -> versions.put(id, version.join()));
              return versions;
            });
  }

  private CompletionStage<Optional<EtcdVersion>> ask(NodeId id, List<String> urls) {
    if (id.equals(member.status().memberId())) {
      return CompletableFuture.completedFuture(Optional.of(member.serverVersion()));
    }
    CompletionStage<Optional<EtcdVersion>> found =
        CompletableFuture.completedFuture(Optional.empty());
    for (String url : urls) {
      found =
          found.thenCompose(
              version ->
                  version.isPresent() ? CompletableFuture.completedFuture(version) : ask(url));
    }
    return found;
  }

  private CompletionStage<Optional<EtcdVersion>> ask(String url) {
    return peers
        .ask(url, PeerQuery.VersionQuery.INSTANCE, timeout)
        .handle(
            (reply, unreachable) ->
                reply instanceof PeerReply.Version known
                    ? Optional.of(known.server())
                    : Optional.empty());
  }
}
