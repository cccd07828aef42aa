package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.mvcc.MvccReader.HistoryLimits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A revision that is too large for one read is returned in pieces, which together are complete. */
class HistoryPiecesTest {
  private final Fixture fixture = new Fixture();
  private long deletion;

  @BeforeEach
  void fill() {
    for (int i = 0; i < 30; i++) {
      fixture.apply(put("k" + (10 + i), "value " + i));
    }
    deletion = fixture.apply(delete(span("k10", "k40"))).revision();
    fixture.apply(put("k15", "again"));
  }

  private HistoryResult.Events read(long from, int fromSub, HistoryLimits limits) {
    return (HistoryResult.Events)
        fixture.machine.reader().history(KeyRange.all(), from, fromSub, limits, true);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 200, 1000})
  void piecesOfOneRevisionContainAllItsEvents(long pieceBytes) {
    HistoryLimits limits = new HistoryLimits(1, 1, pieceBytes);
    List<Event> joined = new ArrayList<>();
    int pieces = 0;
    int sub = 0;
    do {
      HistoryResult.Events piece = read(deletion, sub, limits);
      joined.addAll(piece.events());
      sub = piece.nextSub();
      pieces++;
      assertThat(piece.nextRevision()).isEqualTo(sub > 0 ? deletion : deletion + 1);
    } while (sub > 0);
    assertThat(pieces).isGreaterThan(2);
    HistoryLimits whole = new HistoryLimits(1, 1, Long.MAX_VALUE);
    assertThat(joined).hasSize(30).isEqualTo(read(deletion, 0, whole).events());
  }

  @Test
  void wholeRevisionsPrecedePartOfLargeRevision() {
    HistoryResult.Events first = read(deletion - 2, 0, new HistoryLimits(100, 100_000, 1000));
    assertThat(first.nextSub()).isZero();
    assertThat(first.nextRevision()).isEqualTo(deletion);
    assertThat(first.events()).hasSize(2);
    HistoryResult.Events second =
        read(first.nextRevision(), 0, new HistoryLimits(100, 100_000, 1000));
    assertThat(second.nextSub()).isPositive();
    assertThat(second.events()).allMatch(event -> event.kv().modRevision() == deletion);
  }
}
