package io.troupe.model;

import java.util.List;

/**
 * A user (2.14).
 *
 * @param passwordHash bcrypt's text; empty: no password fits
 * @param noPassword known by a certificate only (A8)
 * @param roles names in byte order, each once; immutable
 */
public record AuthUser(String name, String passwordHash, boolean noPassword, List<String> roles) {
  public AuthUser {
    roles = List.copyOf(roles);
  }

  /** Never shows the hash. */
  @Override
  public String toString() {
    return "AuthUser[" + name + ", roles=" + roles + "]";
  }
}
