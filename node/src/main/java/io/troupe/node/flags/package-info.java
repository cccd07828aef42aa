/**
 * etcd's command line, environment and configuration file, turned into settings of this program.
 * Entry class: {@link io.troupe.node.flags.EtcdCommandLine}. Imports the JDK and a YAML parser. See
 * docs/flags.md.
 */
@NullMarked
package io.troupe.node.flags;

import org.jspecify.annotations.NullMarked;
