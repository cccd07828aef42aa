package io.troupe.persistence.wal;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Any sequence of calls, with restarts and kills in between, agrees with the naive model. */
class WalProperties {

  @Property(tries = 40)
  void anyCallSequenceReplaysLikeModel(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    Path root = Files.createTempDirectory("wal-properties");
    Path dir = root.resolve("0");
    try {
      LogModel model = LogModel.EMPTY;
      ChronicleWal wal = WalFixture.open(dir);
      for (int step = 1; step <= 40; step++) {
        int choice = random.nextInt(20);
        if (choice < 14) {
          model = append(wal, model, random, step);
        } else if (choice < 16) {
          wal.sync();
        } else if (choice == 16) {
          long compactedIndex =
              model.compactedIndex()
                  + random.nextInt((int) (model.last() - model.compactedIndex()) + 1);
          wal.dropBefore(compactedIndex + 1);
          model =
              new LogModel(
                  model.state(), model.entries(), wal.status().compactedIndex(), model.last());
        } else if (choice == 17) {
          long index = model.compactedIndex() + random.nextInt(30);
          wal.restartAfter(index);
          model = model.restartAfter(index);
        } else {
          Path next = root.resolve(String.valueOf(step));
          if (choice == 18) {
            WalFixture.copy(dir, next); // a kill: nothing is lost, nothing is tidied up
            wal.close();
            dir = next;
          } else {
            wal.close();
          }
          wal = WalFixture.open(dir);
        }
        assertThat(wal.status().lastIndex()).isEqualTo(model.last());
        readSome(wal, model, random);
      }
      wal.close();
      for (long skip : new long[] {0, model.compactedIndex(), model.last() / 2, model.last()}) {
        WalReplay replay = WalReplay.read(dir, skip);
        assertThat(replay.entries()).isEqualTo(model.above(Math.max(skip, model.compactedIndex())));
        assertThat(replay.hardState()).isEqualTo(model.state());
        assertThat(replay.lastIndex()).isEqualTo(model.last());
        assertThat(replay.compactedIndex()).isEqualTo(model.compactedIndex());
        long recent = random.nextInt(20_000);
        WalReplay recovered = WalReplay.recover(dir, skip, recent);
        List<Entry> kept = recovered.entries();
        assertThat(kept)
            .isEqualTo(model.above(Math.max(model.last() - kept.size(), model.compactedIndex())));
        assertThat(recovered.hardState()).isEqualTo(model.state());
        long from = Math.max(skip, model.compactedIndex()) + 1;
        assertThat(recovered.entries(dir, from, model.last() + 1, Long.MAX_VALUE).read())
            .isEqualTo(model.above(from - 1));
      }
    } finally {
      DurableFiles.deleteTree(root);
    }
  }

  /**
   * Durable entries above the compacted index can be read while the log is open, in their last
   * copy.
   */
  private static void readSome(ChronicleWal wal, LogModel model, Random random) {
    wal.sync();
    if (model.last() == model.compactedIndex()) {
      return;
    }
    long from =
        model.compactedIndex() + 1 + random.nextInt((int) (model.last() - model.compactedIndex()));
    long until = from + 1 + random.nextInt(100);
    long maxBytes = random.nextInt(3) == 0 ? random.nextInt(5_000) : Long.MAX_VALUE;
    List<Entry> wanted = new ArrayList<>();
    long bytes = 0;
    for (Entry entry : model.above(from - 1)) {
      if (entry.index() < until && (wanted.isEmpty() || bytes < maxBytes)) {
        wanted.add(entry);
        bytes += entry.data().length();
      }
    }
    assertThat(wal.entries(from, until, maxBytes).read()).isEqualTo(wanted);
    assertThat(wal.entries(model.last() + 1, until + 1, maxBytes).read()).isEmpty();
  }

  private static LogModel append(ChronicleWal wal, LogModel model, Random random, int step) {
    long back =
        Math.min(
            random.nextInt(4) == 0 ? random.nextInt(10) : 0, model.last() - model.compactedIndex());
    long from = model.last() + 1 - back;
    int count = random.nextInt(12);
    int size = random.nextInt(8) == 0 ? 30_000 : 400;
    List<Entry> added = WalFixture.entries(step, from, from + count - 1, size);
    HardState state =
        random.nextBoolean()
            ? model.state()
            : new HardState(step, new NodeId(random.nextLong()), random.nextInt(100));
    wal.append(state, added);
    return added.isEmpty()
        ? new LogModel(state, model.entries(), model.compactedIndex(), model.last())
        : model.append(state, added);
  }

  @Property
  void payloadsSurviveRoundTrip(@ForAll("payloads") WalPayload payload) {
    ByteSink sink = new ByteSink();
    payload.encode(sink);
    byte[] bytes = java.util.Arrays.copyOf(sink.array(), sink.size());
    assertThat(WalPayload.decode(payload.type(), Bytes.wrap(bytes))).isEqualTo(payload);
  }

  @Provide
  Arbitrary<WalPayload> payloads() {
    Arbitrary<Long> number = Arbitraries.longs();
    Arbitrary<HardState> state =
        Combinators.combine(number, number, number)
            .as((term, vote, commit) -> new HardState(term, new NodeId(vote), commit));
    Arbitrary<WalPayload> starts =
        Combinators.combine(number, number, number, number, state).as(WalPayload.SegmentStart::new);
    Arbitrary<WalPayload> floors =
        Combinators.combine(number, number, Arbitraries.of(true, false))
            .as(WalPayload.Compacted::new);
    Arbitrary<WalPayload> batches =
        Combinators.combine(
                state.injectNull(0.5),
                Arbitraries.longs().between(1, 1L << 60),
                Arbitraries.integers().between(0, 20),
                number)
            .as(
                (hardState, from, count, seed) ->
                    new WalPayload.Batch(hardState, someEntries(from, count, seed)));
    return Arbitraries.oneOf(
        starts, floors, batches, Arbitraries.just((WalPayload) new WalPayload.End()));
  }

  private static List<Entry> someEntries(long from, int count, long seed) {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Entry drawn = WalFixture.entry(seed & 0xffff, from + i, 300);
      entries.add(new Entry(seed >>> 1, from + i, drawn.kind(), drawn.data()));
    }
    return entries;
  }
}
