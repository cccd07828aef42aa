/** Tests of the model. Entry class: {@link io.troupe.model.BytesTest}. See docs/architecture.md. */
@NullMarked
package io.troupe.model;

import org.jspecify.annotations.NullMarked;
