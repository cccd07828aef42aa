/** Tests of passwords and tokens. */
@NullMarked
package io.troupe.server.auth;

import org.jspecify.annotations.NullMarked;
