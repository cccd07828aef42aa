package io.troupe.model;

import java.util.List;

/**
 * A user (2.14).
 *
 * @param passwordHash bcrypt's text; empty if the user has no password, then no password matches
 * @param noPassword true if the user authenticates with a certificate only (A8)
 * @param roles names in byte order, without duplicates; immutable
 */
public record AuthUser(String name, String passwordHash, boolean noPassword, List<String> roles) {
  public AuthUser {
    roles = List.copyOf(roles);
  }

  /** Omits the password hash. */
  @Override
  public String toString() {
    return "AuthUser[" + name + ", roles=" + roles + "]";
  }
}
