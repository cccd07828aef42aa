/**
 * Applies committed entries to the state. Entry class: {@link io.troupe.actors.apply.ApplyActor}.
 * Imports core, protocol, persistence and Pekko. See docs/components/apply.md.
 */
@NullMarked
package io.troupe.actors.apply;

import org.jspecify.annotations.NullMarked;
