package io.troupe.simulation.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.world.SimMember;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A member's state is damaged (docs/decisions/0060). */
class DivergenceTest {
  private static final Answer CORRUPT = new Answer.Refused(Refusal.CORRUPT);

  /**
   * Damages the state as soon as it has a record, because clients also delete. Damaging it twice
   * would restore it.
   */
  private static void damage(ScriptedCluster story, SimMember member) {
    for (int tries = 0; !member.damage(); tries++) {
      assertThat(tries).as("seconds without any key").isLessThan(30);
      story.pass(1);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void divergentFollowerIsDetectedWithinThousandEntriesAndStopsServing(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 0, 6);
    story.pass(5);
    SimMember wrong = story.follower();
    long at = story.world.lastApplied();
    damage(story, wrong);
    story.await("it is detected", wrong::isCorrupt);
    assertThat(story.world.lastApplied() - at).as("entries").isLessThan(1000);
    story.await(
        "all know",
        () ->
            story.world.members().stream().allMatch(m -> m.corruptMembers().contains(wrong.id())));
    for (SimMember member : story.world.members()) {
      assertThat(member.corruptMembers()).containsExactly(wrong.id());
      assertThat(member.isCorrupt()).isEqualTo(member == wrong);
    }
    assertThat(story.put(wrong, 3)).isEqualTo(CORRUPT);
    assertThat(story.read(wrong, false, 3)).isEqualTo(CORRUPT);
    assertThat(story.read(wrong, true, 3)).isEqualTo(CORRUPT);
    SimMember right = story.leader();
    assertThat(story.put(right, 3))
        .as("nothing is written anywhere (Q4)")
        .isEqualTo(new Answer.Done(new Result.Refused(Refusal.CORRUPT)));
    assertThat(story.read(right, false, 3)).as("but read").isInstanceOf(Answer.Done.class);
  }

  /** Two followers cannot detect that the leader is wrong: the leader's digest counts. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void followersOfDamagedLeaderRaiseAlarmsAndWritesAreRefused(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 0, 6);
    story.pass(5);
    SimMember wrong = story.leader();
    damage(story, wrong);
    story.await(
        "all others stop",
        () -> story.world.members().stream().allMatch(m -> m == wrong || m.isCorrupt()));
    NodeId[] others =
        story.world.members().stream()
            .map(SimMember::id)
            .filter(id -> !id.equals(wrong.id()))
            .toArray(NodeId[]::new);
    story.await(
        "the alarms",
        () -> wrong.corruptMembers().size() == 2 && story.leader().corruptMembers().size() == 2);
    assertThat(wrong.corruptMembers()).containsExactly(others);
    assertThat(story.put(wrong, 3)).isEqualTo(new Answer.Done(new Result.Refused(Refusal.CORRUPT)));
  }
}
