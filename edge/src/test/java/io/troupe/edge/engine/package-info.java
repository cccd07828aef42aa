/** Tests of the HTTP layer. Entry class: {@link io.troupe.edge.engine.HttpLayerTest}. */
@NullMarked
package io.troupe.edge.engine;

import org.jspecify.annotations.NullMarked;
