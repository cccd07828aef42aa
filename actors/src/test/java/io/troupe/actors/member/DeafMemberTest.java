package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.PoisonPill;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A member that can no longer receive messages must not seem healthy. */
class DeafMemberTest {
  private final Path temp;

  DeafMemberTest(@TempDir Path temp) {
    this.temp = temp;
  }

  /** The actors receive messages of other members. */
  @ParameterizedTest
  @ValueSource(strings = {"peer-queries", "rooms/raft", "rooms/lease"})
  void memberStopsWhenAnyRequiredActorStops(String actor) throws Exception {
    try (TestMembers one = TestMembers.start(temp, 1, new TestMember.Options(1_000_000, 0))) {
      TestMember member = one.leader();
      member
          .system()
          .classicSystem()
          .actorSelection("/user/" + actor)
          .tell(PoisonPill.getInstance(), org.apache.pekko.actor.ActorRef.noSender());
      Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> !member.broken.isEmpty());
      assertThat(member.broken.peek()).isInstanceOf(IllegalStateException.class);
      member.broken.clear();
    }
  }
}
