/**
 * Campaigns against a member in a separate process: kill -9 under load, full disks, damaged files,
 * paused processes. Entry class: {@link io.troupe.tests.crash.CrashCampaignIT}. Imports only the
 * etcd client stubs. See docs/campaigns/README.md.
 */
@NullMarked
package io.troupe.tests.crash;

import org.jspecify.annotations.NullMarked;
