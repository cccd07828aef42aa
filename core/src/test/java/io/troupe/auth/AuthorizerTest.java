package io.troupe.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.AlarmType;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import java.util.List;
import org.junit.jupiter.api.Test;

class AuthorizerTest {
  private static final Requester ROOT = new Requester.User("root", 7);
  private static final Requester USER = new Requester.User("u", 7);
  private static final Requester GONE = new Requester.User("gone", 7);
  private static final Requester OLD = new Requester.User("u", 6);
  private static final Requester OLD_ROOT = new Requester.User("root", 6);
  private static final Requester NAMELESS = new Requester.User("", 7);
  private static final KeyRange A = KeyRange.single(Bytes.utf8("a"));
  private static final List<AuthUser> USERS =
      List.of(
          new AuthUser("root", "h", false, List.of("root")),
          new AuthUser("u", "h", false, List.of("r")));
  private static final List<AuthRole> ROLES =
      List.of(new AuthRole("r", List.of(new Permission(Permission.Type.READWRITE, A))));

  /** Lease 1 has a key of the user, lease 2 also a key of another user, other leases have none. */
  private static List<Bytes> attached(long lease) {
    return lease == 1
        ? List.of(Bytes.utf8("a"))
        : lease == 2 ? List.of(Bytes.utf8("a"), Bytes.utf8("b")) : List.of();
  }

  private final Authorizer on =
      new Authorizer(
          new AuthState(true, 7, USERS, ROLES),
          (lease, test) -> attached(lease).stream().allMatch(test));
  private final Authorizer off =
      new Authorizer(new AuthState(false, 7, USERS, ROLES), (lease, test) -> true);

  private static Operation put(String key) {
    return new Operation.Put(Bytes.utf8(key), Bytes.EMPTY, 0, false, false, false);
  }

  @Test
  void allowsEverythingWhileAuthenticationIsDisabled_A1() {
    assertThat(off.operation(Requester.ANONYMOUS, put("b"))).isNull();
    assertThat(off.operation(Requester.ANONYMOUS, new Operation.UserAdd("x", "", false))).isNull();
    assertThat(off.read(OLD, KeyRange.all())).isNull();
    assertThat(off.root(GONE)).isNull();
  }

  @Test
  void rejectsRequesterWithoutUserName_A3() {
    for (Operation operation :
        List.of(put("a"), new Operation.LeaseGrant(1, 1), new Operation.Compact(1))) {
      assertThat(on.operation(Requester.ANONYMOUS, operation)).isEqualTo(Refusal.USER_EMPTY);
    }
    assertThat(on.read(Requester.ANONYMOUS, A)).isEqualTo(Refusal.USER_EMPTY);
    assertThat(on.writeAttached(Requester.ANONYMOUS, 1)).isEqualTo(Refusal.USER_EMPTY);
  }

  @Test
  void rejectsOlderAuthRevisionForKeysOnly_A6_A7() {
    assertThat(on.operation(OLD, put("a"))).isEqualTo(Refusal.AUTH_OLD_REVISION);
    assertThat(on.operation(OLD_ROOT, put("a"))).isEqualTo(Refusal.AUTH_OLD_REVISION);
    assertThat(on.operation(OLD_ROOT, new Operation.Compact(1))).isNull();
    assertThat(on.operation(USER, put("a"))).isNull();
  }

  @Test
  void rootMayDoEverythingOtherUsersOnlyWhatRolesAllow_A12_A13() {
    assertThat(on.operation(ROOT, put("b"))).isNull();
    assertThat(on.operation(USER, put("b"))).isEqualTo(Refusal.PERMISSION_DENIED);
    assertThat(on.operation(GONE, put("a"))).isEqualTo(Refusal.PERMISSION_DENIED);
    for (Operation operation :
        List.of(
            new Operation.AuthEnable(),
            new Operation.AuthDisable(),
            new Operation.UserChangePassword("u", "h"),
            new Operation.RoleAdd("x"),
            new Operation.Compact(3),
            new Operation.AlarmActivate(new NodeId(1), AlarmType.NOSPACE),
            new Operation.AlarmDeactivate(new NodeId(1), AlarmType.NOSPACE))) {
      assertThat(on.operation(ROOT, operation)).as("%s", operation).isNull();
      assertThat(on.operation(USER, operation)).isEqualTo(Refusal.PERMISSION_DENIED);
      assertThat(on.operation(GONE, operation)).isEqualTo(Refusal.USER_NOT_FOUND);
      assertThat(on.operation(Requester.ANONYMOUS, operation)).isEqualTo(Refusal.USER_EMPTY);
    }
    assertThat(on.operation(USER, new Operation.AlarmGet(AlarmType.NONE))).isNull();
    assertThat(on.operation(USER, new Operation.LeaseGrant(1, 1))).isNull();
  }

  @Test
  void provenNameSufficesForRequestsOfAnyUser_L14_MT2_MT3() {
    for (Requester who : List.of(ROOT, USER, GONE, OLD, NAMELESS)) {
      assertThat(on.authenticated(who)).isNull();
      assertThat(on.operation(who, new Operation.LeaseGrant(1, 1))).isNull();
      assertThat(on.operation(who, new Operation.AlarmGet(AlarmType.NONE))).isNull();
    }
    assertThat(on.authenticated(Requester.ANONYMOUS)).isEqualTo(Refusal.USER_EMPTY);
    assertThat(off.authenticated(Requester.ANONYMOUS)).isNull();
  }

  @Test
  void leaseWithoutKeysIsAllowedToAllAndAnyLeaseToRoot_A6_L14() {
    for (long lease : new long[] {1, 2, 3}) {
      assertThat(on.writeAttached(OLD_ROOT, lease)).isNull();
      assertThat(on.readAttached(OLD_ROOT, lease)).isNull();
      assertThat(on.operation(OLD_ROOT, new Operation.LeaseRevoke(lease))).isNull();
    }
    for (Requester who : List.of(USER, GONE, OLD, NAMELESS)) {
      assertThat(on.writeAttached(who, 3)).isNull();
      assertThat(on.readAttached(who, 3)).isNull();
    }
    assertThat(on.readAttached(Requester.ANONYMOUS, 3)).isEqualTo(Refusal.USER_EMPTY);
    assertThat(on.writeAttached(USER, 1)).isNull();
    assertThat(on.writeAttached(USER, 2)).isEqualTo(Refusal.PERMISSION_DENIED);
    assertThat(on.writeAttached(OLD, 1)).isEqualTo(Refusal.AUTH_OLD_REVISION);
    assertThat(on.readAttached(GONE, 1)).isEqualTo(Refusal.PERMISSION_DENIED);
  }

  @Test
  void emptyNameCountsAsNoUserForRootRequestsOnly_A13() {
    assertThat(on.root(NAMELESS)).isEqualTo(Refusal.USER_EMPTY);
    assertThat(on.operation(NAMELESS, put("a"))).isEqualTo(Refusal.PERMISSION_DENIED);
    assertThat(on.seeUser(NAMELESS, "")).isNull();
    assertThat(on.seeUser(Requester.ANONYMOUS, "")).isNull();
    assertThat(on.seeUser(Requester.ANONYMOUS, "u")).isEqualTo(Refusal.USER_EMPTY);
  }

  @Test
  void authRevisionZeroCountsAsNoUser_A6() {
    Requester zero = new Requester.User("root", 0);
    assertThat(on.operation(zero, put("a"))).isEqualTo(Refusal.USER_EMPTY);
    assertThat(on.read(zero, A)).isEqualTo(Refusal.USER_EMPTY);
    assertThat(on.root(zero)).isNull();
  }

  @Test
  void readRequiresAuthRevisionOfItsState_A6() {
    Requester later = new Requester.User("u", 8);
    assertThat(on.operation(later, put("a"))).isNull();
    assertThat(on.read(later, A)).isEqualTo(Refusal.AUTH_OLD_REVISION);
    assertThat(on.read(later, KeyRange.all())).isEqualTo(Refusal.PERMISSION_DENIED);
  }

  @Test
  void emptyTransactionNeedsNoRight_X14() {
    Operation.Txn nothing = new Operation.Txn(List.of(), List.of(), List.of());
    Operation.Txn around = new Operation.Txn(List.of(), List.of(nothing), List.of(nothing));
    for (Operation.Txn txn : List.of(nothing, around)) {
      for (Requester who : List.of(Requester.ANONYMOUS, USER, GONE, NAMELESS)) {
        assertThat(on.transaction(who, txn)).isNull();
        assertThat(on.operation(who, txn)).isNull();
      }
      assertThat(on.transaction(OLD, txn)).isEqualTo(Refusal.AUTH_OLD_REVISION);
      assertThat(on.operation(OLD, txn)).isNull();
    }
    Operation.Txn writes =
        new Operation.Txn(List.of(), List.of(), List.of((Operation.TxnOp) put("a")));
    assertThat(on.operation(Requester.ANONYMOUS, writes)).isEqualTo(Refusal.USER_EMPTY);
  }

  @Test
  void usersMayReadThemselvesAndTheirRoles_A13() {
    assertThat(on.seeUser(USER, "u")).isNull();
    assertThat(on.seeUser(USER, "root")).isEqualTo(Refusal.PERMISSION_DENIED);
    assertThat(on.seeRole(USER, "r")).isNull();
    assertThat(on.seeRole(USER, "root")).isEqualTo(Refusal.PERMISSION_DENIED);
    assertThat(on.seeUser(ROOT, "u")).isNull();
    assertThat(on.seeRole(ROOT, "r")).isNull();
  }

  @Test
  void membersMayDoEverything_A17() {
    assertThat(on.operation(Requester.MEMBER, new Operation.LeaseRevoke(1))).isNull();
    assertThat(
            on.operation(
                Requester.MEMBER, new Operation.AlarmActivate(new NodeId(1), AlarmType.NOSPACE)))
        .isNull();
    assertThat(
            on.operation(
                Requester.ANONYMOUS, new Operation.PublishMember(new NodeId(1), "n", List.of())))
        .isNull();
  }

  @Test
  void permissionOnSingleKeyDoesNotCoverRangeFromThatKey() {
    assertThat(on.read(USER, new KeyRange(Bytes.utf8("a"), Bytes.of(0))))
        .isEqualTo(Refusal.PERMISSION_DENIED);
    assertThat(on.read(USER, new KeyRange(Bytes.utf8("a"), Bytes.utf8("a\0\0"))))
        .isEqualTo(Refusal.PERMISSION_DENIED);
    assertThat(on.read(USER, new KeyRange(Bytes.utf8("a"), Bytes.utf8("a\0")))).isNull();
  }
}
