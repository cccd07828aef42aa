/**
 * Commands on files, without a running member: {@code bin/ctl snapshot status} and {@code restore}
 * (7.3, 8.4), {@code migrate} (docs/migration.md). Entry class: {@link
 * io.troupe.node.offline.OfflineCommands}.
 */
@NullMarked
package io.troupe.node.offline;

import org.jspecify.annotations.NullMarked;
