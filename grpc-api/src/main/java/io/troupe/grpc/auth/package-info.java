/**
 * How a caller proves its identity: passwords and tokens. Entry classes: {@link
 * io.troupe.grpc.auth.Tokens}, {@link io.troupe.grpc.auth.Passwords}. Imports core's model and
 * auth, protocol, and the libraries for bcrypt and JWT. See docs/components/auth.md.
 */
@NullMarked
package io.troupe.grpc.auth;

import org.jspecify.annotations.NullMarked;
