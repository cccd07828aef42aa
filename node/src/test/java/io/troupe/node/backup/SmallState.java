package io.troupe.node.backup;

import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.txn.ResponseSpace;
import java.nio.file.Path;

/** A state with few keys. */
final class SmallState implements AutoCloseable {
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 1, 64, 0);

  final RocksStore store;
  final StateMachine machine;
  private long index;

  SmallState(Path directory) {
    store = RocksStore.open(directory, SMALL);
    machine = new StateMachine(store, 1 << 20);
  }

  long index() {
    return index;
  }

  /** Adds a key. */
  void put() {
    index++;
    machine.apply(
        index,
        1,
        Requester.MEMBER,
        new Operation.Put(Bytes.utf8("key" + index), Bytes.utf8("value"), 0, false, false, false),
        ResponseSpace.none());
    machine.commit();
  }

  @Override
  public void close() {
    machine.close();
    store.close();
  }
}
