package io.troupe.machine;

import io.troupe.auth.AuthRules;
import io.troupe.auth.AuthState;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.MvccStore;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;

/** Users and roles: one state in memory, and rows in META. */
final class AuthTables {
  private final MvccStore store;
  private AuthState state;

  AuthTables(MvccStore store, OrderedStore rows) {
    this.store = store;
    AuthRows.Switch kept = AuthRows.auth(rows);
    if (kept == null) {
      this.state = AuthState.EMPTY;
    } else {
      List<AuthUser> users = new ArrayList<>();
      AuthRows.forEachUser(rows, users::add);
      List<AuthRole> roles = new ArrayList<>();
      AuthRows.forEachRole(rows, roles::add);
      this.state = new AuthState(kept.enabled(), kept.revision(), users, roles);
    }
  }

  /** As of the last applied entry. */
  AuthState state() {
    return state;
  }

  Result apply(long index, Operation.Auth operation) {
    AuthRules.Outcome outcome = AuthRules.apply(state, operation);
    if (outcome instanceof AuthRules.Refused refused) {
      return new Result.Refused(refused.reason());
    }
    keep(((AuthRules.Done) outcome).after());
    if (operation instanceof Operation.Authenticate authenticate) {
      // A5: the index of the entry defines from which applied index on a member knows the token.
      return new Result.Authenticated(store.revision(), authenticate.tokenPrefix() + "." + index);
    }
    return new Result.Done(store.revision());
  }

  /** Writes the rows that differ between the states, in the order of names. */
  private void keep(AuthState after) {
    AuthState before = state;
    if (after == before) {
      return;
    }
    state = after;
    store.raiseSchema(AuthRows.SCHEMA_VERSION);
    store.putRow(
        Space.META,
        AuthRows.AUTH,
        AuthRows.value(new AuthRows.Switch(after.isEnabled(), after.revision())));
    for (AuthUser user : after.users().values()) {
      if (!user.equals(before.user(user.name()))) {
        store.putRow(Space.META, AuthRows.user(user.name()), AuthRows.value(user));
      }
    }
    for (String name : before.users().keySet()) {
      if (after.user(name) == null) {
        store.removeRow(Space.META, AuthRows.user(name));
      }
    }
    for (AuthRole role : after.roles().values()) {
      if (!role.equals(before.role(role.name()))) {
        store.putRow(Space.META, AuthRows.role(role.name()), AuthRows.value(role));
      }
    }
    for (String name : before.roles().keySet()) {
      if (after.role(name) == null) {
        store.removeRow(Space.META, AuthRows.role(name));
      }
    }
  }
}
