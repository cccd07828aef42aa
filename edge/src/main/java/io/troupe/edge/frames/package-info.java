/**
 * Checks of the bytes that a client sends: HTTP/2 frames, the framing of HTTP/1.1. Pure Java
 * without streams and clocks. Entry class: {@link io.troupe.edge.frames.Http2FrameLimits}. Imports
 * core.model. See docs/components/http.md.
 */
@NullMarked
package io.troupe.edge.frames;

import org.jspecify.annotations.NullMarked;
