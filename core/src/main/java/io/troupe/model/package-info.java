/**
 * The value types that all components share: bytes, ranges, revisions, log entries, operations and
 * their results; and durations as text. Entry class: {@link io.troupe.model.Operation}. Imports the
 * JDK alone. See docs/architecture.md.
 */
@NullMarked
package io.troupe.model;

import org.jspecify.annotations.NullMarked;
