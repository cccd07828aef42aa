/**
 * Configuration files and settings: reading, checks, defaults that follow from the heap. Entry
 * class: {@link io.troupe.node.config.NodeSettings}. See docs/operations.md.
 */
@NullMarked
package io.troupe.node.config;

import org.jspecify.annotations.NullMarked;
