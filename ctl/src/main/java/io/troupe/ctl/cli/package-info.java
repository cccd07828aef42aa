/**
 * Flags, environment variables, exit codes and help, as etcdctl has them. Entry class: {@link
 * io.troupe.ctl.cli.FlagParser}. May import {@code text} and picocli. See docs/ctl.md.
 */
@NullMarked
package io.troupe.ctl.cli;

import org.jspecify.annotations.NullMarked;
