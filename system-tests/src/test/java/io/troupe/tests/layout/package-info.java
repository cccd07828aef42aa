/**
 * Which package may depend on which, checked on the compiled classes. Entry class: {@link
 * io.troupe.tests.layout.LayoutTest}. Imports ArchUnit only. See docs/architecture.md.
 */
@NullMarked
package io.troupe.tests.layout;

import org.jspecify.annotations.NullMarked;
