/**
 * The log of the process: streams, etcd's fields, filters. Entry class: {@link
 * io.troupe.node.logging.ProcessLogging}. See docs/operations.md.
 */
@NullMarked
package io.troupe.node.logging;

import org.jspecify.annotations.NullMarked;
