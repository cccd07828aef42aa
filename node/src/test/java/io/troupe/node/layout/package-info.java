/**
 * Which package may depend on which, checked on the compiled classes. Entry class: {@link
 * io.troupe.node.layout.LayoutTest}. Imports ArchUnit only. See docs/architecture.md.
 */
@NullMarked
package io.troupe.node.layout;

import org.jspecify.annotations.NullMarked;
