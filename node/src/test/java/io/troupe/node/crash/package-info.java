/**
 * Campaigns against a member that runs as a process of its own: kill -9 under load, full disks,
 * damaged files, stopped processes. Entry class: {@link io.troupe.node.crash.CrashCampaignIT}.
 * Imports the etcd client stubs alone. See docs/campaigns/README.md.
 */
@NullMarked
package io.troupe.node.crash;

import org.jspecify.annotations.NullMarked;
