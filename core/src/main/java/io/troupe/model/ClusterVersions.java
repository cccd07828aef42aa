package io.troupe.model;

import org.jspecify.annotations.Nullable;

/**
 * The versions that the state contains (8.7). Immutable; patches are 0.
 *
 * @param cluster version that all members of the cluster serve (V1); null: not decided
 * @param storage version of the formats in this state (V3); null: unknown
 * @param downgradeTarget target of the downgrade in progress; null: there is none (MT11)
 */
public record ClusterVersions(
    @Nullable EtcdVersion cluster,
    @Nullable EtcdVersion storage,
    @Nullable EtcdVersion downgradeTarget) {

  /** Nothing is decided. */
  public static final ClusterVersions UNDECIDED = new ClusterVersions(null, null, null);

  /** True while a downgrade is in progress. */
  public boolean isDowngrading() {
    return downgradeTarget != null;
  }
}
