package io.troupe.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a log entry asks of the state. Applying one depends on nothing but the state and the
 * operation. Shapes are already checked (keys present, limits kept, no duplicate keys in a
 * transaction); what depends on the state is checked at apply.
 */
public sealed interface Operation {

  /** What may stand in a transaction's branch. */
  sealed interface TxnOp {}

  /** A read inside a transaction. */
  record Range(RangeQuery query) implements TxnOp {}

  /**
   * Writes one key (2.5).
   *
   * @param lease lease to attach, 0 for none
   * @param prevKv whether the answer carries the former record
   * @param ignoreValue keep the current value
   * @param ignoreLease keep the current lease
   */
  record Put(
      Bytes key, Bytes value, long lease, boolean prevKv, boolean ignoreValue, boolean ignoreLease)
      implements Operation, TxnOp {}

  /**
   * An operation of a transaction that no check lets pass, in its place among the others: which
   * error a client receives depends on the order. Never proposed.
   *
   * @param reason the error if this operation is the first that fails
   */
  record Invalid(Refusal reason) implements TxnOp {}

  /** Deletes every key of a range (2.6). */
  record DeleteRange(KeyRange range, boolean prevKv) implements Operation, TxnOp {}

  /** A transaction (2.7); nested ones are {@link TxnOp}s. */
  record Txn(List<Compare> compares, List<TxnOp> success, List<TxnOp> failure)
      implements Operation, TxnOp {
    public Txn {
      compares = List.copyOf(compares);
      success = List.copyOf(success);
      failure = List.copyOf(failure);
    }
  }

  /**
   * Moves the compacted revision (2.8). Whether the answer waits for the removal is the proposer's
   * matter.
   */
  record Compact(long revision) implements Operation {}

  /**
   * Makes a lease (2.10).
   *
   * @param id already chosen, not 0
   * @param ttlSeconds effective: the minimum is already applied
   */
  record LeaseGrant(long id, long ttlSeconds) implements Operation {}

  /** Ends a lease and deletes its keys in one revision. */
  record LeaseRevoke(long id) implements Operation {}

  /** Remembers how much of each of these leases was left, for the next leader (L12). */
  record LeaseCheckpoint(List<Remaining> leases) implements Operation {
    /** Copies the list. */
    public LeaseCheckpoint {
      leases = List.copyOf(leases);
    }

    /**
     * One lease.
     *
     * @param seconds what was left; 0 forgets an earlier checkpoint
     */
    public record Remaining(long id, long seconds) {}
  }

  /** Lists alarms through the log (MT3). NONE lists all. */
  record AlarmGet(AlarmType type) implements Operation {}

  /** Raises an alarm. */
  record AlarmActivate(NodeId member, AlarmType type) implements Operation {}

  /** Ends an alarm. */
  record AlarmDeactivate(NodeId member, AlarmType type) implements Operation {}

  /** A member tells its name and client URLs (M3). */
  record PublishMember(NodeId member, String name, List<String> clientUrls) implements Operation {
    public PublishMember {
      clientUrls = List.copyOf(clientUrls);
    }
  }

  /** Changes of users, roles and authentication (2.14); they never change the revision (A18). */
  sealed interface Auth extends Operation {}

  /** Turns authentication on (A1). */
  record AuthEnable() implements Auth {}

  /** Turns authentication off (A1). */
  record AuthDisable() implements Auth {}

  /**
   * Makes a token known to all members (A4, A5). The password was checked before.
   *
   * @param tokenPrefix first part of the token; the entry's index is the second
   * @param authRevision of the state whose hash the password fitted
   */
  record Authenticate(String user, String tokenPrefix, long authRevision) implements Auth {
    /** Never shows the token. */
    @Override
    public String toString() {
      return "Authenticate[" + user + ", " + authRevision + "]";
    }
  }

  /**
   * Adds a user (A8).
   *
   * @param passwordHash bcrypt's text, empty for none
   */
  record UserAdd(String user, String passwordHash, boolean noPassword) implements Auth {
    /** Never shows the hash. */
    @Override
    public String toString() {
      return "UserAdd[" + user + "]";
    }
  }

  /** Removes a user (A9). */
  record UserDelete(String user) implements Auth {}

  /**
   * Gives a user another password (A9).
   *
   * @param passwordHash bcrypt's text; empty: no password fits from now on
   */
  record UserChangePassword(String user, String passwordHash) implements Auth {
    /** Never shows the hash. */
    @Override
    public String toString() {
      return "UserChangePassword[" + user + "]";
    }
  }

  /** Gives a user a role (A9). */
  record UserGrantRole(String user, String role) implements Auth {}

  /** Takes a role from a user (A9). */
  record UserRevokeRole(String user, String role) implements Auth {}

  /** Adds a role (A10). */
  record RoleAdd(String role) implements Auth {}

  /** Removes a role, also from its users (A10). */
  record RoleDelete(String role) implements Auth {}

  /**
   * Gives a role a permission (A11).
   *
   * @param permission null when the request had none
   */
  record RoleGrantPermission(String role, @Nullable Permission permission) implements Auth {}

  /** Takes every permission with exactly this range from a role (A11). */
  record RoleRevokePermission(String role, KeyRange range) implements Auth {}
}
