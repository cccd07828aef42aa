package io.troupe.actors.member;

import io.troupe.actors.apply.CompactionActor;
import io.troupe.actors.snapshot.SnapshotSettings;
import io.troupe.actors.snapshot.TransferSettings;
import io.troupe.model.EtcdVersion;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.wal.WalSettings;
import io.troupe.raft.RaftSettings;
import java.time.Duration;

/**
 * Settings of the actors; each actor checks its own.
 *
 * @param tick length of a Raft tick
 * @param electionTimeout in real time
 * @param snapshots when snapshots are taken, and how much of the log is kept before them
 * @param transfers how snapshots are sent to other members
 * @param requestTimeout how long a caller waits for a reply
 * @param hotRecordBytes see StateMachine
 * @param watchBufferBytes unsent bytes of a watch stream
 * @param watchFragmentBytes W17
 * @param watchProgressInterval W15
 * @param slowApply an entry that takes longer to apply is logged
 * @param checkpointLeasesEvery interval at which remaining times of long leases are replicated
 *     (L12); zero disables it
 * @param priorityRevokes whether revokes of expired leases may wait when other proposals may not
 *     (Q6)
 * @param serverVersion version of etcd's API that this member serves
 */
public record MemberSettings(
    RaftSettings raft,
    Duration tick,
    Duration electionTimeout,
    WalSettings wal,
    RocksSettings store,
    long hotRecordBytes,
    SnapshotSettings snapshots,
    TransferSettings transfers,
    Duration requestTimeout,
    CompactionActor.Settings compaction,
    long watchBufferBytes,
    long watchFragmentBytes,
    Duration watchProgressInterval,
    Duration slowApply,
    Duration checkpointLeasesEvery,
    boolean priorityRevokes,
    EtcdVersion serverVersion) {}
