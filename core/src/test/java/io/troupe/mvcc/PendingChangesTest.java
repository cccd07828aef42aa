package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests reads over changes that are not written yet. */
class PendingChangesTest {
  private final InMemoryOrderedStore store = new InMemoryOrderedStore();
  private final PendingChanges pending = new PendingChanges(store);

  private static Bytes bytes(String text) {
    return Bytes.utf8(text);
  }

  private void put(Space space, String key, String value) {
    pending.put(space, bytes(key), bytes(value));
  }

  private List<String> rows(Space space) {
    List<String> rows = new ArrayList<>();
    try (Cursor cursor = pending.cursor(space, Bytes.EMPTY, null)) {
      while (cursor.next()) {
        rows.add(cursor.key().utf8() + "=" + cursor.value().utf8());
      }
    }
    return rows;
  }

  @Test
  void cursorShowsChangesOfItsSpaceOnly() {
    put(Space.KEY, "a", "key");
    put(Space.LATEST, "a", "latest");
    assertThat(rows(Space.KEY)).containsExactly("a=key");
    assertThat(rows(Space.LATEST)).containsExactly("a=latest");
    assertThat(rows(Space.REV)).isEmpty();
  }

  @Test
  void cursorShowsChangesSinceLastRead() {
    put(Space.LATEST, "b", "1");
    assertThat(rows(Space.LATEST)).containsExactly("b=1");
    put(Space.KEY, "x", "1");
    put(Space.LATEST, "a", "2");
    pending.remove(Space.LATEST, bytes("b"));
    put(Space.KEY, "y", "2");
    assertThat(rows(Space.LATEST)).containsExactly("a=2");
    assertThat(rows(Space.KEY)).containsExactly("x=1", "y=2");
    put(Space.LATEST, "b", "3");
    assertThat(rows(Space.LATEST)).containsExactly("a=2", "b=3");
  }

  @Test
  void changesCoverStoredRowsUntilTheyAreWritten() {
    put(Space.LATEST, "a", "1");
    put(Space.LATEST, "b", "1");
    assertThat(rows(Space.LATEST)).containsExactly("a=1", "b=1");
    pending.write();
    assertThat(store.get(Space.LATEST, bytes("a"))).isEqualTo(bytes("1"));
    assertThat(pending.bytes()).isZero();
    pending.remove(Space.LATEST, bytes("a"));
    put(Space.LATEST, "b", "2");
    assertThat(rows(Space.LATEST)).containsExactly("b=2");
    assertThat(store.get(Space.LATEST, bytes("b"))).isEqualTo(bytes("1"));
    pending.write();
    assertThat(rows(Space.LATEST)).containsExactly("b=2");
    assertThat(store.get(Space.LATEST, bytes("a"))).isNull();
  }

  @Test
  void cursorsOfTwoSpacesAreOpenTogether() {
    put(Space.KEY, "a", "1");
    put(Space.KEY, "b", "1");
    put(Space.LATEST, "a", "2");
    try (Cursor keys = pending.cursor(Space.KEY, Bytes.EMPTY, null)) {
      assertThat(keys.next()).isTrue();
      assertThat(rows(Space.LATEST)).containsExactly("a=2");
      assertThat(keys.next()).isTrue();
      assertThat(keys.key()).isEqualTo(bytes("b"));
      assertThat(keys.next()).isFalse();
    }
  }
}
