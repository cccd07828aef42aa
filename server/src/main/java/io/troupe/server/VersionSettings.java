package io.troupe.server;

import io.troupe.model.EtcdVersion;
import java.time.Duration;

/**
 * Settings of versions (8.7).
 *
 * @param server version of etcd's API that this member serves
 * @param downgradeCheckTime interval between two checks whether a downgrade is complete (MT12);
 *     zero: never
 */
public record VersionSettings(EtcdVersion server, Duration downgradeCheckTime) {}
