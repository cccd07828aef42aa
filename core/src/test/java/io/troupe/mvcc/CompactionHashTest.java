package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** MT6: hashes of the content before a compaction. */
class CompactionHashTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final CountingStore store = new CountingStore();
  private Fixture fixture = new Fixture(store);

  private MvccReader reader() {
    return fixture.machine.reader();
  }

  private HashResult.Hash hash(long revision) {
    return (HashResult.Hash) reader().hash(revision);
  }

  private long revision() {
    return fixture.machine.currentRevision();
  }

  private void compact(long revision) {
    fixture.apply(new Operation.Compact(revision));
  }

  private static void assertSame(HashResult.@Nullable Hash made, HashResult.@Nullable Hash former) {
    HashResult.Hash now = Objects.requireNonNull(made);
    HashResult.Hash before = Objects.requireNonNull(former);
    assertThat(now.hash()).isEqualTo(before.hash());
    assertThat(now.compactRevision()).isEqualTo(before.compactRevision());
    assertThat(now.hashRevision()).isEqualTo(before.hashRevision());
  }

  @Test
  void negativeRevisionIsEchoedAndHashesNothing_MT6() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    compact(2);
    CRC32C nothing = new CRC32C();
    nothing.update("key".getBytes(StandardCharsets.US_ASCII));
    HashResult.Hash expected = new HashResult.Hash((int) nothing.getValue(), 2, -7, 3);
    assertThat(reader().hash(-7)).isEqualTo(expected);
    assertThat(reader().hashNow(-7)).isEqualTo(expected);
    assertThat(hash(Long.MIN_VALUE).hashRevision()).isEqualTo(Long.MIN_VALUE);
  }

  /** The same steps as etcd's own test of HashKV across compaction and defragmentation. */
  @Test
  void hashOfRevisionIsUnchangedByItsCompaction() {
    for (int i = 0; i < 10; i++) {
      fixture.apply(put("key0", "v" + i));
    }
    fixture.apply(delete(one("key0")));
    long at = revision();
    for (int i = 0; i < 10; i++) {
      fixture.apply(put("key0", "w" + i));
    }
    HashResult.Hash before = hash(at);
    compact(at);
    assertSame(hash(at), before);
    fixture.removeAll();
    assertSame(hash(at), before);
    assertThat(hash(at).storeRevision()).isEqualTo(revision());
    assertThat(reader().hash(at - 1)).isEqualTo(new HashResult.Refused(Refusal.COMPACTED));
  }

  @Test
  void hashCoversContentBeforeRemoval() {
    for (int i = 0; i < 40; i++) {
      fixture.apply(put("k" + i % 7, "v" + i));
    }
    compact(10);
    fixture.removeAll();
    reader().hashCompaction();
    HashResult.Hash before = hash(30);
    assertThat(before.compactRevision()).isEqualTo(10);
    compact(30);
    fixture.removeAll();
    assertSame(reader().hashCompaction(), before);
    assertSame(hash(30), before);
  }

  @Test
  void currentRevisionIsHashedNowEvenIfCompacted() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    HashResult.Hash before = hash(0);
    compact(revision());
    assertSame(hash(revision()), before);
    assertThat(hash(0).compactRevision()).isEqualTo(revision());
    assertThat(hash(0).hash()).isNotEqualTo(before.hash());
    assertThat(reader().hashNow(revision())).isEqualTo(hash(0));
  }

  @Test
  void keepsLastTenHashes() {
    for (int i = 0; i < 20; i++) {
      fixture.apply(put("a", "v" + i));
    }
    for (long at = 3; at <= 14; at++) {
      compact(at);
      fixture.removeAll();
      assertThat(reader().hashCompaction()).isNotNull();
    }
    assertThat(reader().compactionHashes())
        .extracting(HashResult.Hash::hashRevision)
        .containsExactly(14L, 13L, 12L, 11L, 10L, 9L, 8L, 7L, 6L, 5L);
    assertThat(hash(5).compactRevision()).isEqualTo(4);
    assertThat(reader().hash(4)).isEqualTo(new HashResult.Refused(Refusal.COMPACTED));
  }

  @Test
  void fastCompactionsKeepNewestHashInBoundedMemory() {
    for (int i = 0; i < 60; i++) {
      fixture.apply(put("k" + i % 5, "v" + i));
    }
    HashResult.Hash before = null;
    for (long at = 2; at <= 50; at++) {
      before = hash(at);
      compact(at);
      fixture.removeAll();
      assertThat(store.open).as("cursors of the pending content").isEqualTo(3);
    }
    assertSame(reader().hashCompaction(), before);
    assertThat(reader().hashCompaction()).isNull();
    assertThat(store.open).isZero();
    assertThat(reader().compactionHashes()).hasSize(1);
    assertThat(reader().hash(49)).isEqualTo(new HashResult.Refused(Refusal.COMPACTED));
  }

  @Test
  void severalCompactionsInOneBatchCountAsLastOne() {
    for (int i = 0; i < 9; i++) {
      fixture.apply(put("a", "v" + i));
    }
    StateMachine machine = fixture.machine;
    machine.apply(machine.appliedIndex() + 1, 1, new Operation.Compact(4));
    machine.apply(machine.appliedIndex() + 1, 1, new Operation.Compact(7));
    machine.commit();
    fixture.removeAll();

    Fixture other = new Fixture();
    for (int i = 0; i < 9; i++) {
      other.apply(put("a", "v" + i));
    }
    other.apply(new Operation.Compact(4));
    other.removeAll();
    assertSame(hash(7), (HashResult.Hash) other.machine.reader().hash(7));
    assertThat(hash(7).compactRevision()).isEqualTo(4);
  }

  @Test
  void restartDropsHashesAndReportsOtherCompaction() {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    fixture.apply(put("a", "3"));
    compact(3);
    HashResult.Hash before = hash(3);
    fixture.machine = new StateMachine(fixture.store, 0);
    assertThat(reader().compactionHashes()).isEmpty();
    assertThat(reader().hashCompaction()).isNull();
    assertThat(before.compactRevision()).isEqualTo(-1);
    assertThat(hash(3).compactRevision()).as("never treated as equal").isEqualTo(3);
  }

  @Test
  void closeReleasesPendingHash() {
    fixture.apply(put("a", "1"));
    compact(2);
    assertThat(store.open).isEqualTo(3);
    fixture.machine.close();
    assertThat(store.open).isZero();
    fixture.apply(put("a", "2"));
    compact(3);
    assertThat(store.open).isZero();
    assertThat(reader().hashCompaction()).isNull();
  }

  @Test
  void onlyRequesterWaitsForHash() {
    for (int i = 0; i < 9; i++) {
      fixture.apply(put("a", "v" + i));
    }
    HashResult.Hash before = hash(5);
    compact(5);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    Thread[] hashing = new Thread[1];
    store.beforeStep =
        () -> {
          if (Thread.currentThread() == hashing[0]) {
            begun.countDown();
            awaitQuietly(mayGoOn);
          }
        };
    CompletableFuture<HashResult.Hash> made = new CompletableFuture<>();
    hashing[0] = new Thread(() -> made.complete(reader().hashCompaction()), "hashing");
    hashing[0].start();
    awaitQuietly(begun);

    // The writer, the removal, and the hash of another compaction.
    fixture.apply(put("a", "more"));
    fixture.removeAll();
    HashResult.Hash next = hash(8);
    compact(8);
    fixture.removeAll();
    assertSame(hash(8), next);
    CompletableFuture<HashResult.Hash> asked = new CompletableFuture<>();
    Thread asking = new Thread(() -> asked.complete(hash(5)), "asking");
    asking.start();
    assertThat(made).isNotDone();
    assertThat(asked).isNotDone();

    mayGoOn.countDown();
    assertThat(made).succeedsWithin(TIMEOUT);
    assertThat(asked).succeedsWithin(TIMEOUT);
    assertSame(made.join(), before);
    assertSame(asked.join(), before);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void hashIsEqualBeforeAndAfterCompactionForAnyContent() {
    for (long seed = 1; seed <= 60; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      fixture = new Fixture();
      List<String> keys = List.of("a", "b", "c", "d").subList(0, 1 + random.nextInt(4));
      for (int round = 0; round < 6; round++) {
        for (int i = random.nextInt(1, 12); i > 0; i--) {
          String key = keys.get(random.nextInt(keys.size()));
          fixture.apply(random.nextInt(3) == 0 ? delete(one(key)) : put(key, "v" + i));
        }
        long compacted = Math.max(0, reader().view().compactedRevision());
        if (revision() == compacted) {
          continue;
        }
        long at = random.nextLong(compacted + 1, revision() + 1);
        HashResult.Hash before = hash(at);
        compact(at);
        for (int i = random.nextInt(4); i > 0; i--) {
          fixture.machine.compactor().removeBatch(1 + random.nextInt(5));
        }
        HashResult.Hash after = hash(at);
        assertThat(after).as("seed=%d at=%d", seed, at).isEqualTo(before);
      }
    }
  }
}
