/**
 * Tests of the codecs. Entry class: {@link io.troupe.protocol.codec.OperationCodecTest}. See
 * docs/formats/operation.md.
 */
@NullMarked
package io.troupe.protocol.codec;

import org.jspecify.annotations.NullMarked;
