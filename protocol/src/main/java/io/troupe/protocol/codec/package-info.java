/**
 * Log records and peer messages in their protobuf form. Entry class: {@link
 * io.troupe.protocol.codec.OperationCodec}. Imports core.model and the generated
 * io.troupe.protocol.wire. See docs/formats/operation.md.
 */
@NullMarked
package io.troupe.protocol.codec;

import org.jspecify.annotations.NullMarked;
