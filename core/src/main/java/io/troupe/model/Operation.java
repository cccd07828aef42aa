package io.troupe.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The change of the state that a log entry requests. The effect of an operation depends only on the
 * state and the operation. The form of an operation is checked before (keys present, limits kept,
 * no duplicate keys in a transaction); conditions that depend on the state are checked at apply.
 */
public sealed interface Operation {

  /** An operation that a transaction's branch may contain. */
  sealed interface TxnOp {}

  /** A read inside a transaction. */
  record Range(RangeQuery query) implements TxnOp {}

  /**
   * Writes one key (2.5).
   *
   * @param lease lease to attach, 0 for none
   * @param prevKv true if the response contains the previous record
   * @param ignoreValue keep the current value
   * @param ignoreLease keep the current lease
   */
  record Put(
      Bytes key, Bytes value, long lease, boolean prevKv, boolean ignoreValue, boolean ignoreLease)
      implements Operation, TxnOp {}

  /**
   * An operation of a transaction that fails its checks. It keeps its place among the other
   * operations, because the order decides which error a client receives. Never proposed.
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
   * Raises the compacted revision (2.8). The proposer decides whether its response waits for the
   * removal of the records.
   */
  record Compact(long revision) implements Operation {}

  /**
   * Grants a lease (2.10).
   *
   * @param id already chosen, not 0
   * @param ttlSeconds effective: the minimum is already applied
   */
  record LeaseGrant(long id, long ttlSeconds) implements Operation {}

  /** Revokes a lease and deletes its keys in one revision. */
  record LeaseRevoke(long id) implements Operation {}

  /** Records the remaining time of each of these leases for the next leader (L12). */
  record LeaseCheckpoint(List<Remaining> leases) implements Operation {
    /** Copies the list. */
    public LeaseCheckpoint {
      leases = List.copyOf(leases);
    }

    /**
     * The remaining time of one lease.
     *
     * @param seconds remaining time; 0 deletes an earlier checkpoint
     */
    public record Remaining(long id, long seconds) {}
  }

  /** Lists alarms through the log (MT3). NONE lists all. */
  record AlarmGet(AlarmType type) implements Operation {}

  /** Raises an alarm. */
  record AlarmActivate(NodeId member, AlarmType type) implements Operation {}

  /** Deactivates an alarm. */
  record AlarmDeactivate(NodeId member, AlarmType type) implements Operation {}

  /** Publishes the name and the client URLs of a member (M3). */
  record PublishMember(NodeId member, String name, List<String> clientUrls) implements Operation {
    public PublishMember {
      clientUrls = List.copyOf(clientUrls);
    }
  }

  /** Changes of the versions in the state (8.7); they never change the revision. */
  sealed interface Versions extends Operation {}

  /**
   * Sets the cluster version and the storage version (V1, V3). Without effect if the state does not
   * permit the change any more.
   *
   * @param from cluster version on which the leader decided; null: not decided
   * @param to without a patch
   */
  record SetClusterVersion(@Nullable EtcdVersion from, EtcdVersion to) implements Versions {}

  /**
   * Begins a downgrade (MT11).
   *
   * @param target without a patch
   */
  record EnableDowngrade(EtcdVersion target) implements Versions {}

  /**
   * Ends the downgrade (MT11, MT12).
   *
   * @param target only the downgrade to this version; null: any
   */
  record CancelDowngrade(@Nullable EtcdVersion target) implements Versions {}

  /** Changes of users, roles and authentication (2.14); they never change the revision (A18). */
  sealed interface Auth extends Operation {}

  /** Turns authentication on (A1). */
  record AuthEnable() implements Auth {}

  /** Turns authentication off (A1). */
  record AuthDisable() implements Auth {}

  /**
   * Makes a token known to all members (A4, A5). The password is already checked.
   *
   * @param tokenPrefix first part of the token; the index of the entry is the second
   * @param authRevision auth revision of the state whose hash the password matched
   */
  record Authenticate(String user, String tokenPrefix, long authRevision) implements Auth {
    /** Omits the token. */
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
    /** Omits the password hash. */
    @Override
    public String toString() {
      return "UserAdd[" + user + "]";
    }
  }

  /** Removes a user (A9). */
  record UserDelete(String user) implements Auth {}

  /**
   * Changes the password of a user (A9).
   *
   * @param passwordHash bcrypt's text; empty: no password matches from now on
   */
  record UserChangePassword(String user, String passwordHash) implements Auth {
    /** Omits the password hash. */
    @Override
    public String toString() {
      return "UserChangePassword[" + user + "]";
    }
  }

  /** Grants a role to a user (A9). */
  record UserGrantRole(String user, String role) implements Auth {}

  /** Revokes a role of a user (A9). */
  record UserRevokeRole(String user, String role) implements Auth {}

  /** Adds a role (A10). */
  record RoleAdd(String role) implements Auth {}

  /** Removes a role, also from its users (A10). */
  record RoleDelete(String role) implements Auth {}

  /**
   * Grants a permission to a role (A11).
   *
   * @param permission null if the request has none
   */
  record RoleGrantPermission(String role, @Nullable Permission permission) implements Auth {}

  /** Revokes every permission with exactly this range (A11). */
  record RoleRevokePermission(String role, KeyRange range) implements Auth {}
}
