/**
 * Tests of the checks of frames. Entry class: {@link io.troupe.edge.frames.Http2FrameLimitsTest}.
 */
@NullMarked
package io.troupe.edge.frames;

import org.jspecify.annotations.NullMarked;
