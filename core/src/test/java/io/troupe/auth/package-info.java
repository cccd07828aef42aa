/** Tests of users, roles and rights. */
@NullMarked
package io.troupe.auth;

import org.jspecify.annotations.NullMarked;
