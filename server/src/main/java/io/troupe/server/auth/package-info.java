/**
 * How a caller proves its identity: passwords and tokens. Entry classes: {@link
 * io.troupe.server.auth.Tokens}, {@link io.troupe.server.auth.Passwords}. Imports core's model and
 * auth, protocol, and the libraries for bcrypt and JWT. See docs/components/auth.md.
 */
@NullMarked
package io.troupe.server.auth;

import org.jspecify.annotations.NullMarked;
