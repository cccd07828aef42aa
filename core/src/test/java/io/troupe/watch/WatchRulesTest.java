package io.troupe.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.watch.BatchCutter.Piece;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WatchRulesTest {
  private static final Bytes A = Bytes.utf8("a");
  private static final Bytes B = Bytes.utf8("b");

  @Test
  void negativeStartIsRefusedAndZeroMeansNext_W3_W4() {
    assertThat(WatchRules.isStartRefused(-1)).isTrue();
    assertThat(WatchRules.isStartRefused(0)).isFalse();
    assertThat(WatchRules.firstRevision(0, 7)).isEqualTo(8);
    assertThat(WatchRules.firstRevision(3, 7)).isEqualTo(3);
  }

  @Test
  void emptyKeyMeansFirstKey_W5() {
    assertThat(WatchRules.range(Bytes.EMPTY, Bytes.of(0))).isEqualTo(KeyRange.all());
    assertThat(WatchRules.range(A, B)).isEqualTo(new KeyRange(A, B));
  }

  @Test
  void invertedRangeIsRefused_W9() {
    assertThat(WatchRules.isRangeRefused(new KeyRange(B, A))).isTrue();
    assertThat(WatchRules.isRangeRefused(new KeyRange(A, A))).isTrue();
    assertThat(WatchRules.isRangeRefused(KeyRange.single(A))).isFalse();
    assertThat(WatchRules.isRangeRefused(new KeyRange(B, Bytes.of(0)))).isFalse();
  }

  @Test
  void idsAreNotReused_W1() {
    WatchIds ids = new WatchIds();
    assertThat(ids.take(0)).hasValue(0);
    assertThat(ids.take(1)).hasValue(1);
    assertThat(ids.take(-4)).hasValue(-4);
    assertThat(ids.take(-4)).isEqualTo(OptionalLong.empty());
    assertThat(ids.take(0)).hasValue(2);
    assertThat(ids.free(2)).isTrue();
    assertThat(ids.free(2)).isFalse();
    assertThat(ids.take(0)).hasValue(3);
    assertThat(ids.take(2)).hasValue(2);
  }

  @Test
  void filtersDropTheirEventType_W14() {
    Event put = new Event(Event.Type.PUT, new KeyValue(A, 1, 1, 1, B, 0), null);
    Event delete = Event.delete(A, 2, null);
    assertThat(EventFilter.NONE.accepts(put)).isTrue();
    assertThat(EventFilter.NONE.accepts(delete)).isTrue();
    assertThat(new EventFilter(true, false).accepts(put)).isFalse();
    assertThat(new EventFilter(true, false).accepts(delete)).isTrue();
    assertThat(new EventFilter(false, true).accepts(delete)).isFalse();
  }

  @Test
  void piecesStayBelowTheLimit_W17() {
    int[] sizes = {40, 40, 40, 500, 10};
    assertThat(BatchCutter.cut(5, i -> sizes[i], 10, 100))
        .containsExactly(
            new Piece(0, 2, true),
            new Piece(2, 3, true),
            new Piece(3, 4, true),
            new Piece(4, 5, false));
    assertThat(BatchCutter.cut(2, i -> sizes[i], 10, 100)).containsExactly(new Piece(0, 2, false));
    assertThat(BatchCutter.cut(2, i -> sizes[i], 10, 90)).hasSize(2);
    assertThat(BatchCutter.cut(0, i -> 1, 10, 90)).isEmpty();
  }

  @Test
  void piecesContainAllEvents_W17() {
    for (long seed = 1; seed <= 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int[] sizes = random.ints(1 + random.nextInt(30), 1, 60).toArray();
      List<Piece> pieces = BatchCutter.cut(sizes.length, i -> sizes[i], 5, 80);
      int at = 0;
      for (int i = 0; i < pieces.size(); i++) {
        Piece piece = pieces.get(i);
        assertThat(piece.from()).isEqualTo(at);
        assertThat(piece.fragment()).isEqualTo(i < pieces.size() - 1);
        int size = 5;
        for (int j = piece.from(); j < piece.to(); j++) {
          size += sizes[j];
        }
        assertThat(size < 80 || piece.to() - piece.from() == 1).as("seed=%d", seed).isTrue();
        at = piece.to();
      }
      assertThat(at).isEqualTo(sizes.length);
    }
  }
}
