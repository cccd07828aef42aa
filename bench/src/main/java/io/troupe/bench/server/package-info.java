/**
 * Server processes under test: starting, waiting until they respond, stopping, and measuring their
 * resources. Entry class: {@link io.troupe.bench.server.Servers}. May import client. See
 * bench/README.md.
 */
@NullMarked
package io.troupe.bench.server;

import org.jspecify.annotations.NullMarked;
