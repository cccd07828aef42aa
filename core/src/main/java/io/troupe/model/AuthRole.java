package io.troupe.model;

import java.util.List;

/**
 * A role (2.14).
 *
 * @param permissions sorted by key; permissions of the same key are in the order in which they were
 *     granted (A11); immutable
 */
public record AuthRole(String name, List<Permission> permissions) {
  public AuthRole {
    permissions = List.copyOf(permissions);
  }
}
