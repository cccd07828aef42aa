package io.troupe.persistence.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/** The RocksDB store and the in-memory store return equal results for any writes and walks. */
class StoreContractProperties {

  @Property(tries = 15)
  void bothStoresReturnEqualResults(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    Path dir = Files.createTempDirectory("store-contract");
    InMemoryOrderedStore oracle = new InMemoryOrderedStore();
    RocksStore store = RocksStore.open(dir, RocksStoreTest.SMALL);
    try {
      for (int step = 0; step < 200; step++) {
        int choice = random.nextInt(12);
        if (choice < 5) {
          StoreBatch batch = batch(random);
          oracle.write(batch);
          store.write(batch);
        } else if (choice < 8) {
          walk(random, oracle, store, step);
        } else if (choice < 10) {
          Space space = space(random);
          Bytes key = key(random);
          assertThat(store.get(space, key)).isEqualTo(oracle.get(space, key));
        } else if (choice == 10) {
          store.flush();
        } else if (random.nextInt(4) == 0) {
          store.close();
          store = RocksStore.open(dir, RocksStoreTest.SMALL);
        }
      }
    } finally {
      store.close();
      DurableFiles.deleteTree(dir);
    }
  }

  /** Opens the same walk on both, writes in between, then compares steps and seeks. */
  private static void walk(Random random, OrderedStore oracle, OrderedStore store, int step) {
    Space space = space(random);
    Bytes from = random.nextInt(4) == 0 ? Bytes.EMPTY : key(random);
    @Nullable Bytes to = random.nextInt(3) == 0 ? null : key(random);
    boolean reverse = random.nextBoolean();
    List<String> trace = new ArrayList<>();
    trace.add(step + " cursor " + space + " " + from + " " + to + " reverse=" + reverse);
    try (Cursor expected = oracle.cursor(space, from, to, reverse);
        Cursor actual = store.cursor(space, from, to, reverse)) {
      StoreBatch between = batch(random);
      oracle.write(between);
      store.write(between);
      for (int i = 0; i < 12; i++) {
        boolean there;
        if (random.nextInt(4) == 0) {
          Bytes target = key(random);
          trace.add("seek " + target);
          there = actual.seek(target);
          assertThat(there).as("%s", trace).isEqualTo(expected.seek(target));
        } else {
          trace.add("next");
          there = actual.next();
          assertThat(there).as("%s", trace).isEqualTo(expected.next());
        }
        if (there) {
          assertThat(actual.key()).as("%s", trace).isEqualTo(expected.key());
          assertThat(actual.value()).as("%s", trace).isEqualTo(expected.value());
        }
      }
    }
  }

  private static StoreBatch batch(Random random) {
    StoreBatch batch = new StoreBatch();
    int changes = random.nextInt(30);
    for (int i = 0; i < changes; i++) {
      if (random.nextInt(3) == 0) {
        batch.delete(space(random), key(random));
      } else {
        byte[] value = new byte[random.nextInt(20) == 0 ? 5000 : random.nextInt(40)];
        random.nextBytes(value);
        batch.put(space(random), key(random), Bytes.wrap(value));
      }
    }
    return batch;
  }

  private static Space space(Random random) {
    Space[] all = Space.values();
    return all[random.nextInt(all.length)];
  }

  /** Few short keys, so that they collide; sometimes the ends of the order, and slices. */
  private static Bytes key(Random random) {
    int[] alphabet = {0, 1, 'a', 'b', 0x7f, 0x80, 0xff};
    byte[] key = new byte[1 + random.nextInt(3) + (random.nextInt(50) == 0 ? 1500 : 0)];
    for (int i = 0; i < Math.min(key.length, 3); i++) {
      key[i] = (byte) alphabet[random.nextInt(alphabet.length)];
    }
    Bytes whole = Bytes.wrap(key);
    return random.nextBoolean() ? whole : Bytes.of(9, 9).concat(whole).slice(2);
  }
}
