/**
 * Users, roles and permissions; makes decisions and never handles a password. Entry classes: {@link
 * io.troupe.auth.AuthState} (the data), {@link io.troupe.auth.AuthRules} (how it changes), {@link
 * io.troupe.auth.Authorizer} (permission checks). Imports model alone. See docs/components/auth.md.
 */
@NullMarked
package io.troupe.auth;

import org.jspecify.annotations.NullMarked;
