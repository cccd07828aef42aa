package io.troupe.persistence.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreException;
import io.troupe.mvcc.StoreView;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A view shows all spaces at one moment, until it or its store is closed. */
class FrozenViewTest {
  private static final Bytes A = Bytes.utf8("a");
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 2, 64, 0);

  private final RocksStore store;

  FrozenViewTest(@TempDir Path temp) {
    store = RocksStore.open(temp.resolve("s"), SMALL);
  }

  private void put(String value) {
    StoreBatch batch = new StoreBatch();
    for (Space space : Space.values()) {
      batch.put(space, A, Bytes.utf8(value));
    }
    store.write(batch);
  }

  private static List<String> values(StoreView view) {
    List<String> values = new ArrayList<>();
    for (Space space : Space.values()) {
      Bytes value = view.get(space, A);
      values.add(value == null ? "-" : value.utf8());
      for (@Nullable Bytes end : new @Nullable Bytes[] {null, Bytes.utf8("b")}) {
        try (Cursor cursor = view.cursor(space, Bytes.EMPTY, end, false)) {
          values.add(cursor.next() ? cursor.value().utf8() : "-");
        }
      }
    }
    return values;
  }

  @Test
  void viewStaysAtItsMoment() {
    try (store) {
      put("1");
      try (StoreView view = store.freeze()) {
        put("2");
        StoreBatch deletes = new StoreBatch();
        deletes.delete(Space.KEY, A);
        store.write(deletes);
        store.flush();
        store.compactFully();
        assertThat(values(view)).hasSize(15).containsOnly("1");
      }
      assertThat(store.get(Space.META, A)).isEqualTo(Bytes.utf8("2"));
    }
  }

  @Test
  void viewShowsAllSpacesAtOneMoment() {
    try (store) {
      put("0");
      AtomicBoolean stop = new AtomicBoolean();
      CompletableFuture<Void> writer =
          CompletableFuture.runAsync(
              () -> {
                for (long i = 1; !stop.get(); i++) {
                  put(Long.toString(i));
                }
              });
      for (int i = 0; i < 200; i++) {
        try (StoreView view = store.freeze()) {
          assertThat(values(view).stream().distinct()).hasSize(1);
        }
      }
      stop.set(true);
      writer.join();
    }
  }

  /** A client that pauses must not delay the end of the member. */
  @Test
  void idleViewDoesNotDelayClose() {
    put("1");
    StoreView idle = store.freeze();
    StoreView closed = store.freeze();
    closed.close();
    store.close();
    assertThatThrownBy(() -> idle.get(Space.KEY, A))
        .isInstanceOf(StoreException.class)
        .hasMessage("the store is closed");
    assertThatThrownBy(() -> idle.cursor(Space.KEY, A, null, false))
        .isInstanceOf(StoreException.class)
        .hasMessage("the store is closed");
    idle.close();
  }
}
