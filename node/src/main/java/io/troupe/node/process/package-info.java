/**
 * The operating system process: exit codes, memory, disk space, systemd. Entry class: {@link
 * io.troupe.node.process.ProcessExit}. See docs/operations.md.
 */
@NullMarked
package io.troupe.node.process;

import org.jspecify.annotations.NullMarked;
