package io.troupe.auth;

import static io.troupe.auth.AuthState.ROOT;

import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.model.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How operations change users and roles (A1, A2, A7-A11). {@link Authorizer} decides whether the
 * requester may do that. Pure.
 */
public final class AuthRules {
  private AuthRules() {}

  /** Outcome of an operation. */
  public sealed interface Outcome {}

  /**
   * The operation succeeded.
   *
   * @param after the same object as before if nothing changed
   */
  public record Done(AuthState after) implements Outcome {}

  /** The operation was refused. */
  public record Refused(Refusal reason) implements Outcome {}

  /**
   * Returns the state after an operation. An Authenticate changes nothing; it is refused if the
   * token must not be issued.
   */
  public static Outcome apply(AuthState state, Operation.Auth operation) {
    if (operation instanceof Operation.AuthEnable) {
      return enable(state);
    }
    if (operation instanceof Operation.AuthDisable) {
      return new Done(state.isEnabled() ? state.with(false, state.revision() + 1) : state);
    }
    if (operation instanceof Operation.Authenticate authenticate) {
      return authenticate(state, authenticate);
    }
    if (operation instanceof Operation.UserAdd add) {
      return userAdd(state, add);
    }
    if (operation instanceof Operation.UserDelete delete) {
      return userDelete(state, delete.user());
    }
    if (operation instanceof Operation.UserChangePassword change) {
      return ofUser(
          state,
          change.user(),
          user ->
              user.noPassword()
                  ? user
                  : new AuthUser(user.name(), change.passwordHash(), false, user.roles()));
    }
    if (operation instanceof Operation.UserGrantRole grant) {
      return grantRole(state, grant.user(), grant.role());
    }
    if (operation instanceof Operation.UserRevokeRole revoke) {
      return revokeRole(state, revoke.user(), revoke.role());
    }
    return applyToRole(state, operation);
  }

  private static Outcome applyToRole(AuthState state, Operation.Auth operation) {
    if (operation instanceof Operation.RoleAdd add) {
      return roleAdd(state, add.role());
    }
    if (operation instanceof Operation.RoleDelete delete) {
      return roleDelete(state, delete.role());
    }
    if (operation instanceof Operation.RoleGrantPermission grant) {
      return grantPermission(state, grant.role(), grant.permission());
    }
    if (operation instanceof Operation.RoleRevokePermission revoke) {
      return revokePermission(state, revoke.role(), revoke.range());
    }
    throw new IllegalArgumentException("no rule for " + operation.getClass());
  }

  /** A1: the auth revision does not change (A7). */
  private static Outcome enable(AuthState state) {
    if (state.isEnabled()) {
      return new Done(state);
    }
    AuthUser root = state.user(ROOT);
    if (root == null) {
      return new Refused(Refusal.ROOT_USER_MISSING);
    }
    if (!state.isRoot(root)) {
      return new Refused(Refusal.ROOT_ROLE_MISSING);
    }
    return new Done(state.with(true, state.revision()));
  }

  /** A4: the password matched the hash of that auth revision; the hash may have changed since. */
  private static Outcome authenticate(AuthState state, Operation.Authenticate authenticate) {
    if (!state.isEnabled()) {
      return new Refused(Refusal.AUTH_NOT_ENABLED);
    }
    if (authenticate.authRevision() != state.revision()) {
      return new Refused(Refusal.AUTH_OLD_REVISION);
    }
    return state.user(authenticate.user()) == null
        ? new Refused(Refusal.AUTH_FAILED)
        : new Done(state);
  }

  private static Outcome userAdd(AuthState state, Operation.UserAdd add) {
    if (add.user().isEmpty()) {
      return new Refused(Refusal.USER_EMPTY);
    }
    if (state.user(add.user()) != null) {
      return new Refused(Refusal.USER_EXISTS);
    }
    String hash = add.noPassword() ? "" : add.passwordHash();
    return withUser(state, new AuthUser(add.user(), hash, add.noPassword(), List.of()));
  }

  private static Outcome userDelete(AuthState state, String name) {
    if (state.isEnabled() && name.equals(ROOT)) {
      return new Refused(Refusal.INVALID_AUTH_MANAGEMENT);
    }
    if (state.user(name) == null) {
      return new Refused(Refusal.USER_NOT_FOUND);
    }
    Map<String, AuthUser> users = new TreeMap<>(state.users());
    users.remove(name);
    return new Done(state.withUsers(users.values()));
  }

  /** The role root need not exist (A2). A role that the user already has changes nothing. */
  private static Outcome grantRole(AuthState state, String name, String role) {
    AuthUser user = state.user(name);
    if (user == null) {
      return new Refused(Refusal.USER_NOT_FOUND);
    }
    if (!role.equals(ROOT) && state.role(role) == null) {
      return new Refused(Refusal.ROLE_NOT_FOUND);
    }
    if (user.roles().contains(role)) {
      return new Done(state);
    }
    List<String> roles = new ArrayList<>(user.roles());
    roles.add(role);
    roles.sort(Names.ORDER);
    return withUser(state, withRoles(user, roles));
  }

  private static Outcome revokeRole(AuthState state, String name, String role) {
    if (state.isEnabled() && name.equals(ROOT) && role.equals(ROOT)) {
      return new Refused(Refusal.INVALID_AUTH_MANAGEMENT);
    }
    AuthUser user = state.user(name);
    if (user == null) {
      return new Refused(Refusal.USER_NOT_FOUND);
    }
    return user.roles().contains(role)
        ? withUser(state, without(user, role))
        : new Refused(Refusal.ROLE_NOT_GRANTED);
  }

  private static Outcome roleAdd(AuthState state, String name) {
    if (name.isEmpty()) {
      return new Refused(Refusal.ROLE_EMPTY);
    }
    if (state.role(name) != null) {
      return new Refused(Refusal.ROLE_EXISTS);
    }
    return withRole(state, new AuthRole(name, List.of()));
  }

  private static Outcome roleDelete(AuthState state, String name) {
    if (state.isEnabled() && name.equals(ROOT)) {
      return new Refused(Refusal.INVALID_AUTH_MANAGEMENT);
    }
    if (state.role(name) == null) {
      return new Refused(Refusal.ROLE_NOT_FOUND);
    }
    Map<String, AuthRole> roles = new TreeMap<>(state.roles());
    roles.remove(name);
    Map<String, AuthUser> users = new TreeMap<>(state.users());
    users.replaceAll((key, user) -> user.roles().contains(name) ? without(user, name) : user);
    return new Done(state.with(users.values(), roles.values()));
  }

  /**
   * A11, with its quirk: only the first permission of the same key is checked, so the same range
   * may be listed twice.
   */
  private static Outcome grantPermission(
      AuthState state, String name, @Nullable Permission permission) {
    if (permission == null) {
      return new Refused(Refusal.PERMISSION_NOT_GIVEN);
    }
    KeyRange range = permission.range();
    if (!mayBeGranted(range)) {
      return new Refused(Refusal.INVALID_AUTH_MANAGEMENT);
    }
    AuthRole role = state.role(name);
    if (role == null) {
      return new Refused(Refusal.ROLE_NOT_FOUND);
    }
    List<Permission> permissions = new ArrayList<>(role.permissions());
    int first = 0;
    while (first < permissions.size() && keyAt(permissions, first, range) < 0) {
      first++;
    }
    if (first < permissions.size() && permissions.get(first).range().equals(range)) {
      permissions.set(first, permission);
    } else {
      int end = first;
      while (end < permissions.size() && keyAt(permissions, end, range) == 0) {
        end++;
      }
      permissions.add(end, permission);
    }
    return withRole(state, new AuthRole(name, permissions));
  }

  /** True if a permission may have this range (A11). */
  public static boolean mayBeGranted(KeyRange range) {
    return !range.key().isEmpty() && !range.isEmpty();
  }

  private static int keyAt(List<Permission> permissions, int at, KeyRange range) {
    return permissions.get(at).range().key().compareTo(range.key());
  }

  private static Outcome revokePermission(AuthState state, String name, KeyRange range) {
    AuthRole role = state.role(name);
    if (role == null) {
      return new Refused(Refusal.ROLE_NOT_FOUND);
    }
    List<Permission> permissions = new ArrayList<>(role.permissions());
    return permissions.removeIf(permission -> permission.range().equals(range))
        ? withRole(state, new AuthRole(name, permissions))
        : new Refused(Refusal.PERMISSION_NOT_GRANTED);
  }

  private static Outcome ofUser(AuthState state, String name, UnaryOperator<AuthUser> change) {
    AuthUser user = state.user(name);
    return user == null ? new Refused(Refusal.USER_NOT_FOUND) : withUser(state, change.apply(user));
  }

  private static AuthUser without(AuthUser user, String role) {
    return withRoles(user, user.roles().stream().filter(held -> !held.equals(role)).toList());
  }

  private static AuthUser withRoles(AuthUser user, List<String> roles) {
    return new AuthUser(user.name(), user.passwordHash(), user.noPassword(), roles);
  }

  private static Outcome withUser(AuthState state, AuthUser user) {
    Map<String, AuthUser> users = new TreeMap<>(state.users());
    users.put(user.name(), user);
    return new Done(state.withUsers(users.values()));
  }

  private static Outcome withRole(AuthState state, AuthRole role) {
    Map<String, AuthRole> roles = new TreeMap<>(state.roles());
    roles.put(role.name(), role);
    return new Done(state.with(state.users().values(), roles.values()));
  }
}
