package io.troupe.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Lease;
import io.troupe.model.Refusal;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class LeaseBookTest {
  private final SortedMap<Long, Lease> kept = new TreeMap<>();
  private final LeaseRecords records =
      new LeaseRecords() {
        @Override
        public void save(Lease lease) {
          kept.put(lease.id(), lease);
        }

        @Override
        public void remove(long id) {
          kept.remove(id);
        }
      };
  private final LeaseBook book = new LeaseBook(List.of(), records);

  @Test
  void grantsEachIdOnce_L1() {
    assertThat(book.grant(-5, 10)).isNull();
    assertThat(book.grant(-5, 10)).isEqualTo(Refusal.LEASE_EXISTS);
    assertThat(book.grant(6, 9_000_000_001L)).isEqualTo(Refusal.LEASE_TTL_TOO_LARGE);
    assertThat(book.grant(6, 9_000_000_000L)).isNull();
    assertThat(book.grant(0, 10)).isEqualTo(Refusal.LEASE_NOT_FOUND);
    assertThat(kept.keySet()).containsExactly(-5L, 6L);
    assertThat(book.size()).isEqualTo(2);
  }

  @Test
  void revokesGrantedLeasesOnly_L9() {
    book.grant(6, 10);
    assertThat(book.revoke(6)).isNull();
    assertThat(book.revoke(6)).isEqualTo(Refusal.LEASE_NOT_FOUND);
    assertThat(kept).isEmpty();
    assertThat(book.contains(6)).isFalse();
  }

  @Test
  void savesAndDeletesCheckpoints_L12() {
    book.grant(6, 10);
    assertThat(book.checkpoint(6, 4)).isTrue();
    assertThat(book.find(6)).isEqualTo(new Lease(6, 10, 4));
    assertThat(new Lease(6, 10, 4).countFromSeconds()).isEqualTo(4);
    assertThat(book.checkpoint(6, 0)).isTrue();
    assertThat(new Lease(6, 10, 0).countFromSeconds()).isEqualTo(10);
    assertThat(book.checkpoint(6, 99)).isTrue();
    assertThat(kept.get(6L)).isEqualTo(new Lease(6, 10, 10));
    assertThat(book.checkpoint(7, 4)).isFalse();
    assertThat(new LeaseBook(kept.values(), records).find(6)).isEqualTo(new Lease(6, 10, 10));
  }

  @Test
  void minimumTtlFollowsElectionTimeout_L2() {
    assertThat(LeaseRules.minTtlSeconds(10, 100)).isEqualTo(2);
    assertThat(LeaseRules.minTtlSeconds(5, 100)).isEqualTo(1);
    assertThat(LeaseRules.minTtlSeconds(10, 1000)).isEqualTo(15);
    assertThat(LeaseRules.effectiveTtlSeconds(-3, 2)).isEqualTo(2);
    assertThat(LeaseRules.effectiveTtlSeconds(60, 2)).isEqualTo(60);
  }
}
