package io.troupe.auth;

import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Permission;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Users, roles and permissions as of one log entry. Immutable and thread-safe; replicated, so equal
 * on all members that applied the same entries.
 */
public final class AuthState {
  /** Name of the user, and of the role, that may do everything. */
  public static final String ROOT = "root";

  /** No users, authentication disabled (A7). */
  public static final AuthState EMPTY = new AuthState(false, 1, List.of(), List.of());

  private final boolean enabled;
  private final long revision;
  private final SortedMap<String, AuthUser> users;
  private final SortedMap<String, AuthRole> roles;

  /** Computed at the first use; a function of this state. */
  private final Map<String, AccessRights> rights = new ConcurrentHashMap<>();

  /**
   * Restores a stored state.
   *
   * @param revision the auth revision, 1 or more (A7)
   */
  public AuthState(
      boolean enabled, long revision, Collection<AuthUser> users, Collection<AuthRole> roles) {
    this.enabled = enabled;
    this.revision = revision;
    TreeMap<String, AuthUser> byName = new TreeMap<>(Names.ORDER);
    users.forEach(user -> byName.put(user.name(), user));
    this.users = Collections.unmodifiableSortedMap(byName);
    TreeMap<String, AuthRole> rolesByName = new TreeMap<>(Names.ORDER);
    roles.forEach(role -> rolesByName.put(role.name(), role));
    this.roles = Collections.unmodifiableSortedMap(rolesByName);
  }

  /** True if authentication is enabled. */
  public boolean isEnabled() {
    return enabled;
  }

  /** The auth revision (A7). */
  public long revision() {
    return revision;
  }

  /** By name, in byte order (A15); immutable. */
  public SortedMap<String, AuthUser> users() {
    return users;
  }

  /** By name, in byte order (A15); immutable. */
  public SortedMap<String, AuthRole> roles() {
    return roles;
  }

  /** Returns the user, or null. */
  public @Nullable AuthUser user(String name) {
    return users.get(name);
  }

  /** Returns the role, or null. */
  public @Nullable AuthRole role(String name) {
    return roles.get(name);
  }

  /** True if the user has the role root, whether or not that role exists (A2, A12). */
  public boolean isRoot(AuthUser user) {
    return user.roles().contains(ROOT);
  }

  /** Rights of one of {@link #users()}. */
  AccessRights rights(AuthUser user) {
    return rights.computeIfAbsent(user.name(), name -> rightsOf(user));
  }

  private AccessRights rightsOf(AuthUser user) {
    List<Permission> permissions = new ArrayList<>();
    for (String name : user.roles()) {
      AuthRole role = roles.get(name);
      if (role != null) {
        permissions.addAll(role.permissions());
      }
    }
    return new AccessRights(permissions);
  }

  AuthState with(boolean enabledNow, long revisionNow) {
    return new AuthState(enabledNow, revisionNow, users.values(), roles.values());
  }

  /** The state with the next auth revision and these users. */
  AuthState withUsers(Collection<AuthUser> usersNow) {
    return new AuthState(enabled, revision + 1, usersNow, roles.values());
  }

  /** The state with the next auth revision and these users and roles. */
  AuthState with(Collection<AuthUser> usersNow, Collection<AuthRole> rolesNow) {
    return new AuthState(enabled, revision + 1, usersNow, rolesNow);
  }
}
