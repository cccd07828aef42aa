package io.troupe.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.lease.LeaseCountdown.Renewal;
import io.troupe.model.Lease;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LeaseCountdownTest {
  private final LeaseCountdown countdown = new LeaseCountdown(300_000);

  @Test
  void leaseLivesForItsFullTime_L4() {
    countdown.granted(7, 2);
    countdown.advance(1999);
    assertThat(countdown.takeExpired(10)).isEmpty();
    countdown.advance(1);
    assertThat(countdown.takeExpired(10)).containsExactly(7L);
  }

  @Test
  void renewalRestoresFullTime_L5() {
    countdown.granted(7, 2);
    countdown.advance(1500);
    assertThat(countdown.renew(7)).isEqualTo(Renewal.RENEWED);
    assertThat(countdown.remainingMs(7)).hasValue(2000);
    assertThat(countdown.renew(8)).isEqualTo(Renewal.UNKNOWN);
    countdown.advance(2000);
    assertThat(countdown.renew(7)).isEqualTo(Renewal.EXPIRED);
    assertThat(countdown.remainingMs(7)).hasValue(0);
    countdown.revoked(7);
    assertThat(countdown.renew(7)).isEqualTo(Renewal.UNKNOWN);
    assertThat(countdown.remainingMs(7)).isEmpty();
  }

  @Test
  void unconfirmedRevokesAreReturnedAgain_L10() {
    countdown.granted(1, 1);
    countdown.granted(2, 1);
    countdown.granted(3, 5);
    countdown.advance(1000);
    assertThat(countdown.takeExpired(1)).containsExactly(1L);
    assertThat(countdown.takeExpired(10)).containsExactly(2L);
    assertThat(countdown.takeExpired(10)).isEmpty();
    countdown.revoked(2);
    countdown.advance(2999);
    assertThat(countdown.takeExpired(10)).isEmpty();
    countdown.advance(1);
    assertThat(countdown.takeExpired(10)).containsExactly(1L);
  }

  @Test
  void newLeaderExtendsLeasesAndStartsFromCheckpoints_L11_L12() {
    countdown.promote(List.of(new Lease(1, 100, 0), new Lease(2, 100, 30)), 1000);
    assertThat(countdown.remainingMs(1)).hasValue(101_000);
    assertThat(countdown.remainingMs(2)).hasValue(31_000);
    assertThat(countdown.idsByRemaining()).containsExactly(2L, 1L);
    assertThat(countdown.renew(1)).isEqualTo(Renewal.RENEWED);
    assertThat(countdown.renew(2)).isEqualTo(Renewal.CHECKPOINTED);
    assertThat(countdown.remainingMs(2)).hasValue(100_000);
    countdown.demote();
    assertThat(countdown.idsByRemaining()).isEmpty();
    countdown.advance(1_000_000);
    assertThat(countdown.takeExpired(10)).isEmpty();
  }

  @Test
  void expiryOfManyLeasesIsSpread_L13() {
    List<Lease> leases = new ArrayList<>();
    for (int i = 1; i <= 3000; i++) {
      leases.add(new Lease(i, 10, 0));
    }
    countdown.promote(leases, 0);
    countdown.advance(9_999);
    assertThat(countdown.takeExpired(10_000)).isEmpty();
    countdown.advance(1);
    int inAll = 0;
    for (int second = 0; second < 4; second++) {
      int ended = countdown.takeExpired(10_000).size();
      assertThat(ended).isEqualTo(750);
      inAll += ended;
      for (long id = 1; id <= 3000; id++) {
        if (countdown.remainingMs(id).orElse(1) <= 0) {
          countdown.revoked(id);
        }
      }
      countdown.advance(1000);
    }
    assertThat(inAll).isEqualTo(3000);
    List<Lease> fewer = leases.subList(0, 999);
    countdown.promote(fewer, 0);
    countdown.advance(10_000);
    assertThat(countdown.takeExpired(10_000)).hasSize(999);
  }

  @Test
  void longLeasesAreCheckpointed_L12() {
    countdown.granted(1, 600);
    countdown.granted(2, 299);
    countdown.advance(299_999);
    assertThat(countdown.takeCheckpoints(10)).isEmpty();
    countdown.advance(1);
    assertThat(countdown.takeCheckpoints(10)).containsExactly(new Remaining(1, 300));
    countdown.advance(299_000);
    assertThat(countdown.takeCheckpoints(10)).isEmpty();
    countdown.granted(3, 1000);
    countdown.granted(4, 1000);
    countdown.advance(300_000);
    assertThat(countdown.takeCheckpoints(1)).hasSize(1);
    assertThat(countdown.takeCheckpoints(10)).hasSize(1);
  }

  /** A client with a confirmed renewal must not meet a leader that counts from the checkpoint. */
  @Test
  void renewalIsConfirmedAfterCheckpointIsDeleted_L12() {
    countdown.granted(1, 600);
    countdown.advance(300_000);
    assertThat(countdown.takeCheckpoints(10)).containsExactly(new Remaining(1, 300));
    assertThat(countdown.renew(1)).isEqualTo(Renewal.CHECKPOINTED);
    assertThat(countdown.renew(1))
        .as("while the outcome is uncertain")
        .isEqualTo(Renewal.CHECKPOINTED);
    countdown.forgotten(1, false);
    assertThat(countdown.renew(1)).as("outcome is unknown").isEqualTo(Renewal.CHECKPOINTED);
    countdown.forgotten(1, true);
    assertThat(countdown.renew(1)).isEqualTo(Renewal.RENEWED);
    countdown.checkpointed(1, 20);
    assertThat(countdown.renew(1))
        .as("checkpoint of an earlier leader")
        .isEqualTo(Renewal.CHECKPOINTED);
  }

  /** Its entry would follow the deletion of the checkpoint and must not undo it. */
  @Test
  void noCheckpointWhileDeletionIsPending_L12() {
    countdown.granted(1, 1000);
    countdown.advance(300_000);
    assertThat(countdown.takeCheckpoints(10)).hasSize(1);
    assertThat(countdown.renew(1)).isEqualTo(Renewal.CHECKPOINTED);
    countdown.advance(300_000);
    assertThat(countdown.takeCheckpoints(10)).isEmpty();
    countdown.forgotten(1, true);
    countdown.advance(299_999);
    assertThat(countdown.takeCheckpoints(10)).isEmpty();
    countdown.advance(1);
    assertThat(countdown.takeCheckpoints(10)).containsExactly(new Remaining(1, 400));
  }

  /** An earlier leader confirmed a renewal; this leader started to count before it applied it. */
  @Test
  void checkpointDeletedByEarlierLeaderRestoresFullTime_L4() {
    countdown.promote(List.of(new Lease(1, 100, 2), new Lease(2, 100, 2)), 1000);
    countdown.advance(3000);
    countdown.checkpointed(1, 0);
    assertThat(countdown.takeExpired(10)).containsExactly(2L);
    assertThat(countdown.remainingMs(1)).hasValue(100_000);
    countdown.advance(100_000);
    assertThat(countdown.takeExpired(10)).containsExactlyInAnyOrder(1L, 2L);
    countdown.checkpointed(7, 0);
    assertThat(countdown.idsByRemaining()).as("unknown lease").hasSize(2);
  }

  @Test
  void zeroIntervalDisablesCheckpoints_L12() {
    LeaseCountdown without = new LeaseCountdown(0);
    without.granted(1, 9_000_000_000L);
    without.advance(1_000_000_000);
    assertThat(without.takeCheckpoints(10)).isEmpty();
    assertThat(without.renew(1)).isEqualTo(Renewal.RENEWED);
  }

  @Test
  void pausesDoNotCount() {
    PauseAwareClock time = new PauseAwareClock(500);
    assertThat(time.elapsedMs(10_000)).isZero();
    assertThat(time.elapsedMs(10_100)).isEqualTo(100);
    assertThat(time.elapsedMs(10_600)).isEqualTo(500);
    assertThat(time.elapsedMs(20_000)).isZero();
    assertThat(time.elapsedMs(20_050)).isEqualTo(50);
    assertThat(time.elapsedMs(20_000)).isZero();
    assertThatThrownBy(() -> new PauseAwareClock(0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void agreesWithNaiveCountdown() {
    for (long seed = 1; seed <= 100; seed++) {
      agree(new SplittableRandom(seed), "seed=" + seed);
    }
  }

  private static void agree(SplittableRandom random, String name) {
    LeaseCountdown countdown = new LeaseCountdown(1000 * random.nextLong(3));
    Map<Long, long[]> naive = new HashMap<>();
    long now = 0;
    for (int i = 0; i < 300; i++) {
      long id = random.nextLong(-2, 6);
      switch (random.nextInt(5)) {
        case 0 -> {
          long ttl = random.nextLong(1, 6);
          countdown.granted(id, ttl);
          naive.put(id, new long[] {ttl, now + 1000 * ttl});
        }
        case 1 -> {
          countdown.revoked(id);
          naive.remove(id);
        }
        case 2 -> {
          long[] lease = naive.get(id);
          Renewal expected =
              lease == null ? Renewal.UNKNOWN : lease[1] <= now ? Renewal.EXPIRED : Renewal.RENEWED;
          assertThat(countdown.renew(id)).as(name).isEqualTo(expected);
          if (lease != null && lease[1] > now) {
            lease[1] = now + 1000 * lease[0];
          }
        }
        default -> {
          long step = random.nextInt(800);
          countdown.advance(step);
          now += step;
        }
      }
      long at = now;
      naive.forEach(
          (lease, end) -> assertThat(countdown.remainingMs(lease)).as(name).hasValue(end[1] - at));
      assertThat(countdown.idsByRemaining())
          .as(name)
          .containsExactlyInAnyOrderElementsOf(naive.keySet());
      for (Long expired : countdown.takeExpired(100)) {
        assertThat(naive.get(expired)).as(name).isNotNull();
        assertThat(naive.getOrDefault(expired, new long[2])[1]).as(name).isLessThanOrEqualTo(now);
      }
    }
  }

  @Test
  void leasesExpiringTogetherAreListedInStartOrder_L8() {
    countdown.granted(30, 10);
    countdown.granted(20, 10);
    countdown.granted(40, 10);
    assertThat(countdown.idsByRemaining()).containsExactly(30L, 20L, 40L);
    countdown.renew(30);
    assertThat(countdown.idsByRemaining()).containsExactly(20L, 40L, 30L);
    countdown.advance(10_000);
    assertThat(countdown.idsByRemaining()).containsExactly(20L, 40L, 30L);
  }
}
