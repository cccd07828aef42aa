package io.troupe.actors.member;

import io.troupe.actors.apply.CompactionActor;
import io.troupe.actors.snapshot.SnapshotSettings;
import io.troupe.actors.snapshot.TransferSettings;
import io.troupe.model.EtcdVersion;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.wal.WalSettings;
import io.troupe.raft.RaftSettings;
import java.time.Duration;

/** Settings for files of a few kilobytes, for tests of single actors. */
final class SmallSettings {
  static final Duration SOON = Duration.ofMillis(5);

  static final MemberSettings SMALL =
      new MemberSettings(
          RaftSettings.defaults(),
          SOON,
          SOON,
          new WalSettings(1 << 20, 64 << 10),
          new RocksSettings(8 << 20, 4 << 20, 1, 64, 0),
          0,
          SnapshotSettings.of(1000, Duration.ZERO),
          TransferSettings.of(64L << 20),
          SOON,
          new CompactionActor.Settings(100, Duration.ZERO),
          1 << 20,
          1 << 20,
          Duration.ofHours(1),
          Duration.ofSeconds(1),
          Duration.ZERO,
          false,
          new EtcdVersion(3, 7, 1));

  private SmallSettings() {}
}
