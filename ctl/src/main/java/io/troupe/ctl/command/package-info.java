/**
 * The commands, one class for each group. Entry class: {@link io.troupe.ctl.command.Commands}. May
 * import all other packages of the module. See docs/ctl.md.
 */
@NullMarked
package io.troupe.ctl.command;

import org.jspecify.annotations.NullMarked;
