/** Tests of passwords and tokens. */
@NullMarked
package io.troupe.grpc.auth;

import org.jspecify.annotations.NullMarked;
