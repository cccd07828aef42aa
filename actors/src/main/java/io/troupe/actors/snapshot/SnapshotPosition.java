package io.troupe.actors.snapshot;

import io.troupe.machine.StateMachine;
import io.troupe.machine.StateView;
import io.troupe.model.Bytes;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.nio.file.Path;

/**
 * How far the content of a store that nobody writes to reaches.
 *
 * @param index last index it holds, 0 for an empty one
 * @param term term of that entry
 * @param membership as of there, encoded; empty if it holds none
 */
record SnapshotPosition(long index, long term, Bytes membership) {
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 1, 64, 0);

  /**
   * Reads it; nothing that counts is changed in the directory.
   *
   * @throws io.troupe.mvcc.StoreException if it cannot be read
   */
  static SnapshotPosition of(Path content) {
    try (RocksStore store = RocksStore.openReadOnly(content, SMALL)) {
      StateView view = new StateMachine(store, 0).view();
      Membership membership = view.membership();
      return new SnapshotPosition(
          view.appliedIndex(),
          view.appliedTerm(),
          membership.equals(Membership.EMPTY) ? Bytes.EMPTY : MembershipCodec.encode(membership));
    }
  }
}
