package io.troupe.persistence.wal;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Simulates the disk side of a member until it is killed: recovers, checks, then appends, syncs,
 * applies and prints each index whose entries are durable. Sometimes truncates the start of the
 * log, after a flush.
 */
final class CrashWriter {
  static final Bytes APPLIED = Bytes.utf8("applied");
  static final WalSettings SETTINGS = new WalSettings(512 << 10, 64 << 10);
  static final RocksSettings STORE = new RocksSettings(8 << 20, 4 << 20, 1, 64, 0);

  private CrashWriter() {}

  /** The entry at an index is always the same, regardless of the writing process. */
  static Entry entry(long index) {
    Random random = new Random(index);
    byte[] data = new byte[random.nextInt(900)];
    random.nextBytes(data);
    return new Entry(1, index, Entry.Kind.OPERATION, Bytes.wrap(data));
  }

  static Bytes number(long value) {
    byte[] bytes = new byte[8];
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) (value >>> (56 - 8 * i));
    }
    return Bytes.wrap(bytes);
  }

  static long number(Bytes bytes) {
    long value = 0;
    for (int i = 0; i < 8; i++) {
      value = value << 8 | (bytes.at(i) & 0xff);
    }
    return value;
  }

  static long applied(RocksStore store) {
    Bytes held = store.get(Space.META, APPLIED);
    return held == null ? 0 : number(held);
  }

  static void apply(RocksStore store, List<Entry> entries) {
    StoreBatch batch = new StoreBatch();
    for (Entry entry : entries) {
      batch.put(Space.KEY, number(entry.index() % 500), entry.data());
      batch.put(Space.REV, number(entry.index()), number(entry.index() % 500));
    }
    batch.put(Space.META, APPLIED, number(entries.get(entries.size() - 1).index()));
    store.write(batch);
  }

  public static void main(String[] args) {
    DataDir dir = DataDir.open(Path.of(args[0]));
    if (dir.identity() == null) {
      dir.bootstrap(new MemberIdentity(1, new NodeId(2), "m", List.of("http://m:2380"), "test"));
    }
    RocksStore store = RocksStore.open(dir.state(), STORE);
    WalReplay replay = WalReplay.read(dir.wal(), applied(store));
    ChronicleWal wal = ChronicleWal.open(dir.wal(), SETTINGS, replay);
    if (!replay.entries().isEmpty()) {
      apply(store, replay.entries());
    }
    Random random = new Random(replay.lastIndex());
    long index = replay.lastIndex();
    System.out.println("start " + index);
    while (true) {
      List<Entry> batch = new ArrayList<>();
      int count = 1 + random.nextInt(30);
      for (int i = 0; i < count; i++) {
        batch.add(entry(++index));
      }
      wal.append(new HardState(1, NodeId.NONE, index - 1), batch);
      wal.sync();
      System.out.println("durable " + index);
      System.out.flush();
      apply(store, batch);
      if (random.nextInt(60) == 0) {
        store.flush();
        wal.dropBefore(index - 100 > 0 ? index - 100 : 1);
      }
    }
  }
}
