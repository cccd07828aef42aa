/**
 * The load profiles: which requests are sent, how long, and what is recorded. Entry class: {@link
 * io.troupe.bench.load.Profiles}. May import client, server and report. See bench/README.md.
 */
@NullMarked
package io.troupe.bench.load;

import org.jspecify.annotations.NullMarked;
