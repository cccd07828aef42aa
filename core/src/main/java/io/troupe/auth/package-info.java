/**
 * Users, roles and what they allow; decides, and never sees a password. Entry classes: {@link
 * io.troupe.auth.AuthState} (what is known), {@link io.troupe.auth.AuthRules} (how it changes),
 * {@link io.troupe.auth.Authorizer} (who may do what). Imports model alone. See docs/components/auth.md.
 */
@NullMarked
package io.troupe.auth;

import org.jspecify.annotations.NullMarked;
