package io.troupe.server;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Sends queries to the leader, if it is another member, at its peer URLs in order. */
final class LeaderClient {
  private static final PeerReply NO_LEADER = new PeerReply.Refused(Refusal.NO_LEADER);

  private final Member member;
  private final PeerQueries peers;

  LeaderClient(Member member, PeerQueries peers) {
    this.member = member;
    this.peers = peers;
  }

  /**
   * Sends a query.
   *
   * @param timeout for each URL
   * @return the reply; Refused with NO_LEADER if no other member leads; fails if the leader is not
   *     reachable at any of its URLs
   */
  CompletionStage<PeerReply> ask(PeerQuery query, Duration timeout) {
    NodeId leader = member.status().leader();
    List<String> urls = member.state().cluster().peerUrls().getOrDefault(leader, List.of());
    if (leader.isNone() || leader.equals(member.status().memberId()) || urls.isEmpty()) {
      return CompletableFuture.completedFuture(NO_LEADER);
    }
    CompletionStage<PeerReply> reply = peers.ask(urls.get(0), query, timeout);
    for (String next : urls.subList(1, urls.size())) {
      reply = reply.exceptionallyCompose(unreachable -> peers.ask(next, query, timeout));
    }
    return reply;
  }
}
