package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.PeerReply.KnownMember;
import io.troupe.protocol.QueryFrame;
import io.troupe.testing.FreePort;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Queries between members in one process, over the loopback. */
class SocketQueriesTest {
  private static final long CLUSTER = 77;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofSeconds(1);

  private static final PeerReply MEMBERS =
      new PeerReply.Members(
          CLUSTER,
          List.of(
              new KnownMember(
                  new NodeId(1), "one", List.of("http://a:1"), List.of("http://c:1"), false)));

  private final int portOne = FreePort.next();
  private final int portTwo = FreePort.next();
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  private TestPeer peer(long cluster, long id, int port) {
    TestPeer peer = new TestPeer(cluster, id, port, new PeerDirectory());
    open.add(peer);
    return peer;
  }

  private TestPeer answering(long cluster, long id, int port) {
    TestPeer peer = peer(cluster, id, port);
    peer.queries.serve((from, query) -> CompletableFuture.completedFuture(MEMBERS));
    return peer;
  }

  private static CompletionStage<PeerReply> ask(
      TestPeer from, int to, PeerQuery query, Duration timeout) {
    return from.queries.ask(TestPeer.url(to), query, timeout);
  }

  private static PeerReply asked(TestPeer from, int to, PeerQuery query) {
    return ask(from, to, query, TIMEOUT).toCompletableFuture().join();
  }

  private static void unanswered(TestPeer from, int to, PeerQuery query) {
    assertThatThrownBy(() -> ask(from, to, query, SHORT).toCompletableFuture().join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(TimeoutException.class)
        .hasMessageContaining(TestPeer.url(to));
  }

  @Test
  void memberWithoutClusterMayOnlyQueryForMembers() {
    TestPeer newcomer = peer(QueryFrame.NO_CLUSTER, 0, portOne);
    answering(CLUSTER, 2, portTwo);
    assertThat(asked(newcomer, portTwo, PeerQuery.MembersQuery.INSTANCE)).isEqualTo(MEMBERS);
    unanswered(newcomer, portTwo, PeerQuery.LivenessQuery.INSTANCE);
    unanswered(newcomer, portTwo, new PeerQuery.PromoteQuery(new NodeId(3)));
  }

  @Test
  void membersOfOneClusterAskEachOtherAndThoseOfAnotherAreRefused() {
    TestPeer one = peer(CLUSTER, 1, portOne);
    answering(CLUSTER, 2, portTwo);
    assertThat(asked(one, portTwo, PeerQuery.LivenessQuery.INSTANCE)).isEqualTo(MEMBERS);
    int portForeign = FreePort.next();
    TestPeer foreign = answering(CLUSTER + 1, 1, portForeign);
    unanswered(foreign, portTwo, PeerQuery.MembersQuery.INSTANCE);
    unanswered(foreign, portTwo, new PeerQuery.PromoteQuery(new NodeId(3)));
    unanswered(one, portForeign, PeerQuery.LivenessQuery.INSTANCE);
  }

  @Test
  void queryOfRemovedMemberGetsNoReply() {
    TestPeer one = peer(CLUSTER, 1, portOne);
    TestPeer two = answering(CLUSTER, 2, portTwo);
    assertThat(asked(one, portTwo, PeerQuery.LivenessQuery.INSTANCE)).isEqualTo(MEMBERS);
    two.directory.replace(Map.of(), Set.of(new NodeId(1)));
    unanswered(one, portTwo, PeerQuery.LivenessQuery.INSTANCE);
  }

  @Test
  void memberThatIsNotReadyRefusesQueries() {
    TestPeer one = peer(CLUSTER, 1, portOne);
    peer(QueryFrame.NO_CLUSTER, 0, portTwo);
    assertThat(asked(one, portTwo, PeerQuery.MembersQuery.INSTANCE))
        .isEqualTo(new PeerReply.Refused(Refusal.NO_LEADER));
  }

  /** Repeated, because a query may arrive when the port is open and no actor listens yet. */
  @Tag("full")
  @RepeatedTest(value = 10, failureThreshold = 1)
  void queryReachesMemberThatStartsLaterOrRestarts() throws Exception {
    TestPeer one = peer(CLUSTER, 1, portOne);
    CompletionStage<PeerReply> early = ask(one, portTwo, PeerQuery.MembersQuery.INSTANCE, TIMEOUT);
    TestPeer two = answering(CLUSTER, 2, portTwo);
    // One that does not serve yet says so.
    assertThat(early.toCompletableFuture().join())
        .isIn(MEMBERS, new PeerReply.Refused(Refusal.NO_LEADER));
    two.close();
    TestPeer again = answering(CLUSTER, 2, portTwo);
    again.directory.replace(Map.of(new NodeId(1), List.of(TestPeer.url(portOne))), Set.of());
    assertThat(asked(one, portTwo, PeerQuery.LivenessQuery.INSTANCE)).isEqualTo(MEMBERS);
  }

  @Test
  void concurrentQueriesGetTheirOwnReplies() {
    TestPeer one = peer(CLUSTER, 1, portOne);
    TestPeer two = peer(CLUSTER, 2, portTwo);
    two.queries.serve(
        (from, query) -> {
          assertThat(from).isEqualTo(new NodeId(1));
          long member = ((PeerQuery.PromoteQuery) query).member().value();
          return CompletableFuture.completedFuture(new PeerReply.Members(member, List.of()));
        });
    List<CompletableFuture<PeerReply>> answers =
        IntStream.range(0, 200)
            .mapToObj(
                i ->
                    ask(one, portTwo, new PeerQuery.PromoteQuery(new NodeId(i)), TIMEOUT)
                        .toCompletableFuture())
            .toList();
    for (int i = 0; i < answers.size(); i++) {
      assertThat(answers.get(i).join()).isEqualTo(new PeerReply.Members(i, List.of()));
    }
  }
}
