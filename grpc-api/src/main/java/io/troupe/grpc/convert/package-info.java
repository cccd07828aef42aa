/**
 * Converts the model to generated API classes. Entry class: {@link
 * io.troupe.grpc.convert.ApiConverter}. Imports core.model, protocol and the generated classes. See
 * docs/components/gateway.md.
 */
@NullMarked
package io.troupe.grpc.convert;

import org.jspecify.annotations.NullMarked;
