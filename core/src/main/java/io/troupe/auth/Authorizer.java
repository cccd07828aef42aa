package io.troupe.auth;

import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requester may do what (A3, A12, A13). The same check runs over the entries of the
 * log and over reads. It covers every part of a request, including the branch that will not run,
 * and refuses unknown operations. Each method returns null if the request is allowed. Immutable.
 */
public final class Authorizer {
  private final AuthState state;
  private final LeaseKeys leases;

  /** The keys that are attached to a lease. */
  public interface LeaseKeys {
    /**
     * True if {@code test} holds for all keys of the lease. Also true if the lease has no keys or
     * does not exist, so that it belongs to no user (L14).
     */
    boolean allMatch(long lease, Predicate<Bytes> test);
  }

  /** Decides by one state. */
  public Authorizer(AuthState state, LeaseKeys leases) {
    this.state = state;
    this.leases = leases;
  }

  /** Checks an operation of the log. */
  public @Nullable Refusal operation(Requester who, Operation operation) {
    if (isFree(who)) {
      return null;
    }
    if (operation instanceof Operation.PublishMember
        || operation instanceof Operation.LeaseCheckpoint
        || operation instanceof Operation.Authenticate) {
      // Only members create these; Authenticate contains the result of the password check.
      return null;
    }
    if (operation instanceof Operation.TxnOp op) {
      return asksNothing(op) ? null : keys(who, rights -> allows(rights, op));
    }
    if (operation instanceof Operation.LeaseRevoke revoke) {
      return writeAttached(who, revoke.id());
    }
    if (operation instanceof Operation.LeaseGrant || operation instanceof Operation.AlarmGet) {
      return authenticated(who);
    }
    return root(who);
  }

  /** Checks a read or a watch of a range (G11, W18). */
  public @Nullable Refusal read(Requester who, KeyRange range) {
    if (isFree(who)) {
      return null;
    }
    Refusal refusal = keys(who, rights -> rights.mayRead(range));
    return refusal == null ? ofThisState(who) : refusal;
  }

  /**
   * Checks a transaction that is not in the log because it only reads (X14). If it reads nothing
   * either, it is allowed.
   */
  public @Nullable Refusal transaction(Requester who, Operation.Txn txn) {
    if (isFree(who)) {
      return null;
    }
    Refusal refusal = asksNothing(txn) ? null : keys(who, rights -> allows(rights, txn));
    return refusal == null ? ofThisState(who) : refusal;
  }

  /** Checks a read of the keys of a lease (L14). */
  public @Nullable Refusal readAttached(Requester who, long lease) {
    return attached(who, lease, AccessRights::mayRead);
  }

  /** Checks a revoke or a renewal of a lease (L14). */
  public @Nullable Refusal writeAttached(Requester who, long lease) {
    return attached(who, lease, AccessRights::mayWrite);
  }

  /**
   * Root is checked first, regardless of the auth revision (A6); a lease without keys needs no
   * right.
   */
  private @Nullable Refusal attached(
      Requester who, long lease, BiPredicate<AccessRights, KeyRange> right) {
    Refusal authenticated = authenticated(who);
    if (authenticated != null || root(who) == null) {
      return authenticated;
    }
    if (leases.allMatch(lease, key -> false)) {
      return null;
    }
    return keys(
        who, rights -> leases.allMatch(lease, key -> right.test(rights, KeyRange.single(key))));
  }

  /**
   * Checks a request that is allowed to every proven name, even if no such user exists (any more).
   */
  public @Nullable Refusal authenticated(Requester who) {
    return isFree(who) || who instanceof Requester.User ? null : Refusal.USER_EMPTY;
  }

  /** Checks a request that only root may make (A13). The auth revision is not compared (A6). */
  public @Nullable Refusal root(Requester who) {
    if (isFree(who)) {
      return null;
    }
    if (!(who instanceof Requester.User named) || named.name().isEmpty()) {
      return Refusal.USER_EMPTY;
    }
    AuthUser user = state.user(named.name());
    if (user == null) {
      return Refusal.USER_NOT_FOUND;
    }
    return state.isRoot(user) ? null : Refusal.PERMISSION_DENIED;
  }

  /**
   * Checks a read of a user: allowed to root and to that user (A13). No user has the empty name.
   */
  public @Nullable Refusal seeUser(Requester who, String name) {
    String own = who instanceof Requester.User named ? named.name() : "";
    return own.equals(name) ? null : root(who);
  }

  /** Checks a read of a role: allowed to root and to users that have the role (A13). */
  public @Nullable Refusal seeRole(Requester who, String role) {
    if (who instanceof Requester.User named) {
      AuthUser user = state.user(named.name());
      if (user != null && user.roles().contains(role)) {
        return null;
      }
    }
    return root(who);
  }

  private boolean isFree(Requester who) {
    return !state.isEnabled() || who == Requester.MEMBER;
  }

  /** Checks that the identity of the requester was proven by a current state (A6, A7). */
  public @Nullable Refusal age(Requester who) {
    if (isFree(who)) {
      return null;
    }
    // No state has the revision 0: a user with that revision counts as no user.
    if (!(who instanceof Requester.User named) || named.authRevision() == 0) {
      return Refusal.USER_EMPTY;
    }
    return named.authRevision() < state.revision() ? Refusal.AUTH_OLD_REVISION : null;
  }

  /** A result may be returned only with rights of the very state that it was read from (G11). */
  private @Nullable Refusal ofThisState(Requester who) {
    boolean other =
        who instanceof Requester.User named
            && named.authRevision() != 0
            && named.authRevision() != state.revision();
    return other ? Refusal.AUTH_OLD_REVISION : null;
  }

  /**
   * The order of the refusals is etcd's: no name, old revision, unknown user, permission denied.
   */
  private @Nullable Refusal keys(Requester who, Predicate<AccessRights> test) {
    Refusal age = age(who);
    if (age != null || !(who instanceof Requester.User named)) {
      return age;
    }
    AuthUser user = state.user(named.name());
    if (user == null) {
      return Refusal.PERMISSION_DENIED;
    }
    return state.isRoot(user) || test.test(state.rights(user)) ? null : Refusal.PERMISSION_DENIED;
  }

  private boolean allows(AccessRights rights, Operation.TxnOp op) {
    if (op instanceof Operation.Range range) {
      return rights.mayRead(range.query().range());
    }
    if (op instanceof Operation.Put put) {
      KeyRange key = KeyRange.single(put.key());
      return rights.mayWrite(key)
          && (!put.prevKv() || rights.mayRead(key))
          && (put.lease() == 0 || attachedWritable(rights, put.lease()));
    }
    if (op instanceof Operation.DeleteRange delete) {
      return rights.mayWrite(delete.range())
          && (!delete.prevKv() || rights.mayRead(delete.range()));
    }
    if (op instanceof Operation.Txn txn) {
      return comparesAllowed(rights, txn.compares())
          && allAllowed(rights, txn.success())
          && allAllowed(rights, txn.failure());
    }
    return false;
  }

  private static boolean comparesAllowed(AccessRights rights, List<Compare> compares) {
    for (Compare compare : compares) {
      if (!rights.mayRead(compare.range())) {
        return false;
      }
    }
    return true;
  }

  private boolean allAllowed(AccessRights rights, List<Operation.TxnOp> ops) {
    for (Operation.TxnOp op : ops) {
      if (!allows(rights, op)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Each part of a transaction is checked on its own; a transaction without parts needs no right.
   */
  private static boolean asksNothing(Operation.TxnOp op) {
    return op instanceof Operation.Txn txn
        && txn.compares().isEmpty()
        && txn.success().stream().allMatch(Authorizer::asksNothing)
        && txn.failure().stream().allMatch(Authorizer::asksNothing);
  }

  /**
   * P7: a requester that could attach keys to a lease of another user could delete that user's
   * keys.
   */
  private boolean attachedWritable(AccessRights rights, long lease) {
    return leases.allMatch(lease, key -> rights.mayWrite(KeyRange.single(key)));
  }
}
