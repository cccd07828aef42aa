/**
 * Pekko HTTP without its socket. The only package that uses inner parts of Pekko HTTP. Entry class:
 * {@link io.troupe.edge.engine.HttpLayer}. Imports pekko-http only. See
 * docs/components/http-engine.md.
 */
@NullMarked
package io.troupe.edge.engine;

import org.jspecify.annotations.NullMarked;
