package io.troupe.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.model.Refusal;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AuthRulesTest {
  private AuthState state = AuthState.EMPTY;

  private void done(Operation.Auth operation) {
    state = ((AuthRules.Done) AuthRules.apply(state, operation)).after();
  }

  private void refused(Operation.Auth operation, Refusal reason) {
    assertThat(AuthRules.apply(state, operation)).isEqualTo(new AuthRules.Refused(reason));
  }

  private void enable() {
    done(new Operation.UserAdd("root", "h", false));
    done(new Operation.UserGrantRole("root", "root"));
    done(new Operation.AuthEnable());
  }

  private static KeyRange range(String key, String end) {
    return new KeyRange(Bytes.utf8(key), Bytes.utf8(end));
  }

  private static Operation.RoleGrantPermission grant(Permission.Type type, String key, String end) {
    return new Operation.RoleGrantPermission("r", new Permission(type, range(key, end)));
  }

  private List<Permission> permissions() {
    return Objects.requireNonNull(state.role("r")).permissions();
  }

  private @Nullable AuthUser user(String name) {
    return state.user(name);
  }

  @Test
  void enableRequiresUserRootWithRoleRoot_A1_A2() {
    refused(new Operation.AuthEnable(), Refusal.ROOT_USER_MISSING);
    done(new Operation.UserAdd("root", "h", false));
    refused(new Operation.AuthEnable(), Refusal.ROOT_ROLE_MISSING);
    // No role of that name needs to exist.
    done(new Operation.UserGrantRole("root", "root"));
    done(new Operation.AuthEnable());
    assertThat(state.isEnabled()).isTrue();
  }

  @Test
  void repeatedEnableAndDisableChangeNothing_A1_A7() {
    done(new Operation.AuthDisable());
    assertThat(state.revision()).isEqualTo(1);
    enable();
    long enabled = state.revision();
    assertThat(enabled).as("enable does not count").isEqualTo(3);
    done(new Operation.AuthEnable());
    assertThat(state.revision()).isEqualTo(enabled);
    done(new Operation.AuthDisable());
    done(new Operation.AuthDisable());
    assertThat(state.isEnabled()).isFalse();
    assertThat(state.revision()).isEqualTo(enabled + 1);
  }

  @Test
  void everyChangeIncrementsAuthRevision_A7() {
    List<Operation.Auth> changes =
        List.of(
            new Operation.UserAdd("u", "h", false),
            new Operation.UserChangePassword("u", "h2"),
            new Operation.RoleAdd("r"),
            new Operation.UserGrantRole("u", "r"),
            grant(Permission.Type.READ, "a", ""),
            grant(Permission.Type.READ, "a", ""),
            new Operation.RoleRevokePermission("r", range("a", "")),
            new Operation.UserRevokeRole("u", "r"),
            new Operation.RoleDelete("r"),
            new Operation.UserDelete("u"));
    for (Operation.Auth change : changes) {
      long before = state.revision();
      done(change);
      assertThat(state.revision()).as("%s", change).isEqualTo(before + 1);
    }
  }

  @Test
  void grantOfGrantedRoleChangesNothing_A7() {
    done(new Operation.UserAdd("u", "h", false));
    done(new Operation.RoleAdd("r"));
    done(new Operation.UserGrantRole("u", "r"));
    AuthState before = state;
    done(new Operation.UserGrantRole("u", "r"));
    assertThat(state).isSameAs(before);
  }

  @Test
  void rejectsDuplicateAndUnnamedUsers_A8() {
    refused(new Operation.UserAdd("", "h", false), Refusal.USER_EMPTY);
    done(new Operation.UserAdd("u", "h", false));
    refused(new Operation.UserAdd("u", "h", false), Refusal.USER_EXISTS);
    done(new Operation.UserAdd("cert", "ignored", true));
    assertThat(user("cert")).isEqualTo(new AuthUser("cert", "", true, List.of()));
  }

  @Test
  void rejectsUnknownUsersAndRoles_A9_A10() {
    refused(new Operation.UserDelete("u"), Refusal.USER_NOT_FOUND);
    refused(new Operation.UserChangePassword("u", "h"), Refusal.USER_NOT_FOUND);
    refused(new Operation.UserGrantRole("u", "r"), Refusal.USER_NOT_FOUND);
    refused(new Operation.UserRevokeRole("u", "r"), Refusal.USER_NOT_FOUND);
    done(new Operation.UserAdd("u", "h", false));
    refused(new Operation.UserGrantRole("u", "r"), Refusal.ROLE_NOT_FOUND);
    refused(new Operation.UserRevokeRole("u", "r"), Refusal.ROLE_NOT_GRANTED);
    refused(new Operation.RoleDelete("r"), Refusal.ROLE_NOT_FOUND);
    refused(grant(Permission.Type.READ, "a", ""), Refusal.ROLE_NOT_FOUND);
    refused(new Operation.RoleRevokePermission("r", range("a", "")), Refusal.ROLE_NOT_FOUND);
    refused(new Operation.RoleAdd(""), Refusal.ROLE_EMPTY);
    done(new Operation.RoleAdd("r"));
    refused(new Operation.RoleAdd("r"), Refusal.ROLE_EXISTS);
  }

  @Test
  void rootCannotBeChangedWhileAuthenticationIsEnabled_A9() {
    enable();
    done(new Operation.RoleAdd("root"));
    refused(new Operation.UserDelete("root"), Refusal.INVALID_AUTH_MANAGEMENT);
    refused(new Operation.UserRevokeRole("root", "root"), Refusal.INVALID_AUTH_MANAGEMENT);
    refused(new Operation.RoleDelete("root"), Refusal.INVALID_AUTH_MANAGEMENT);
    done(new Operation.AuthDisable());
    done(new Operation.UserRevokeRole("root", "root"));
    done(new Operation.RoleDelete("root"));
    done(new Operation.UserDelete("root"));
    assertThat(state.users()).isEmpty();
  }

  @Test
  void emptyPasswordMatchesNoLoginAndNoPasswordUserGetsNone_A9() {
    done(new Operation.UserAdd("u", "h", false));
    done(new Operation.UserChangePassword("u", ""));
    assertThat(user("u")).isEqualTo(new AuthUser("u", "", false, List.of()));
    done(new Operation.UserAdd("cert", "", true));
    long before = state.revision();
    done(new Operation.UserChangePassword("cert", "h"));
    assertThat(user("cert")).isEqualTo(new AuthUser("cert", "", true, List.of()));
    assertThat(state.revision()).isEqualTo(before + 1);
  }

  @Test
  void deletedRoleIsRevokedFromItsUsers_A10() {
    done(new Operation.UserAdd("u", "h", false));
    done(new Operation.RoleAdd("r"));
    done(new Operation.RoleAdd("s"));
    done(new Operation.UserGrantRole("u", "s"));
    done(new Operation.UserGrantRole("u", "r"));
    assertThat(Objects.requireNonNull(user("u")).roles()).containsExactly("r", "s");
    done(new Operation.RoleDelete("r"));
    assertThat(Objects.requireNonNull(user("u")).roles()).containsExactly("s");
  }

  @Test
  void permissionsAreCheckedAndSorted_A11() {
    done(new Operation.RoleAdd("r"));
    refused(new Operation.RoleGrantPermission("r", null), Refusal.PERMISSION_NOT_GIVEN);
    refused(grant(Permission.Type.READ, "", ""), Refusal.INVALID_AUTH_MANAGEMENT);
    refused(grant(Permission.Type.READ, "b", "a"), Refusal.INVALID_AUTH_MANAGEMENT);
    refused(grant(Permission.Type.READ, "b", "b"), Refusal.INVALID_AUTH_MANAGEMENT);
    done(grant(Permission.Type.READ, "b", "\0"));
    done(grant(Permission.Type.WRITE, "a", ""));
    done(grant(Permission.Type.READWRITE, "b", "\0"));
    assertThat(permissions())
        .containsExactly(
            new Permission(Permission.Type.WRITE, range("a", "")),
            new Permission(Permission.Type.READWRITE, range("b", "\0")));
    refused(
        new Operation.RoleRevokePermission("r", range("b", "")), Refusal.PERMISSION_NOT_GRANTED);
    done(new Operation.RoleRevokePermission("r", range("b", "\0")));
    assertThat(permissions())
        .containsExactly(new Permission(Permission.Type.WRITE, range("a", "")));
  }

  @Test
  void onlyFirstPermissionOfKeyIsCompared_A11() {
    done(new Operation.RoleAdd("r"));
    done(grant(Permission.Type.READ, "k", "m"));
    done(grant(Permission.Type.READ, "k", "n"));
    done(grant(Permission.Type.WRITE, "k", "n"));
    assertThat(permissions())
        .containsExactly(
            new Permission(Permission.Type.READ, range("k", "m")),
            new Permission(Permission.Type.READ, range("k", "n")),
            new Permission(Permission.Type.WRITE, range("k", "n")));
    done(new Operation.RoleRevokePermission("r", range("k", "n")));
    assertThat(permissions())
        .containsExactly(new Permission(Permission.Type.READ, range("k", "m")));
  }

  @Test
  void namesAreSortedByTheirBytes_A15() {
    // U+FF5E sorts after U+1F600 as Java text, before it as UTF-8.
    for (String name : List.of("\uff5e", "\ud83d\ude00", "b", "a", "ab")) {
      done(new Operation.UserAdd(name, "h", false));
    }
    assertThat(state.users().keySet()).containsExactly("a", "ab", "b", "\uff5e", "\ud83d\ude00");
  }

  @Test
  void tokenIsIssuedOnlyByStateThatCheckedPassword_A4() {
    refused(new Operation.Authenticate("root", "t", 1), Refusal.AUTH_NOT_ENABLED);
    enable();
    refused(new Operation.Authenticate("root", "t", 2), Refusal.AUTH_OLD_REVISION);
    refused(new Operation.Authenticate("unknown", "t", 3), Refusal.AUTH_FAILED);
    AuthState before = state;
    done(new Operation.Authenticate("root", "t", 3));
    assertThat(state).isSameAs(before);
  }
}
