/**
 * Tests of etcd's command line. Entry class: {@code EtcdCommandLineTest}. Imports JUnit and
 * AssertJ. See docs/flags.md.
 */
@NullMarked
package io.troupe.node.flags;

import org.jspecify.annotations.NullMarked;
