package io.troupe.simulation.world;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.Applied;
import io.troupe.model.Bytes;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.mvcc.RevisionChanges;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReferenceStateTest {
  private static final Bytes B = Bytes.utf8("b");
  private static final Entry ENTRY = new Entry(1, 1, Entry.Kind.OPERATION, Bytes.EMPTY);

  private final ReferenceState reference = new ReferenceState();
  private final Applied right =
      reference.apply(
          ENTRY,
          new DecodedOperation(
              new RequestId(1),
              Requester.ANONYMOUS,
              new Operation.Put(B, Bytes.utf8("x"), 0, false, false, false)));

  private Applied member(Result result, List<Event> events, @Nullable KeyRange keys) {
    return new Applied(
        result,
        right.revision(),
        new RevisionChanges(events, keys, right.changes().bytes()),
        List.of());
  }

  @Test
  void responseThatIsTooLargeIsRight() {
    Result tooLarge = new Result.ResponseTooLarge(right.result());
    assertThat(reference.isRight(ENTRY, member(tooLarge, right.events(), null))).isTrue();
    Result refused = new Result.Refused(Refusal.COMPACTED);
    assertThat(reference.isRight(ENTRY, member(refused, right.events(), null))).isFalse();
  }

  @Test
  void eventsThatAreNotListedNeedRangeOfTheirKeys() {
    assertThat(reference.isRight(ENTRY, member(right.result(), List.of(), KeyRange.single(B))))
        .isTrue();
    KeyRange other = KeyRange.single(Bytes.utf8("c"));
    assertThat(reference.isRight(ENTRY, member(right.result(), List.of(), other))).isFalse();
    assertThat(reference.isRight(ENTRY, member(right.result(), List.of(), null))).isFalse();
  }
}
