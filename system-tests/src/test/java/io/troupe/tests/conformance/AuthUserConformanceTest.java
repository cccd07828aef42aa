package io.troupe.tests.conformance;

import static io.grpc.Status.Code.FAILED_PRECONDITION;
import static io.grpc.Status.Code.INVALID_ARGUMENT;
import static io.grpc.Status.Code.UNKNOWN;

import at.favre.lib.crypto.bcrypt.BCrypt;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthRoleDeleteRequest;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthUserChangePasswordRequest;
import io.troupe.grpc.api.AuthUserDeleteRequest;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import io.troupe.grpc.api.AuthUserRevokeRoleRequest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.14: users and their passwords. */
class AuthUserConformanceTest extends AuthStore {
  @RegisterExtension static final ServedStore STORE = ServedStore.create().with("bcrypt-cost", "4");

  AuthUserConformanceTest() {
    super(STORE);
  }

  @Test
  void userAddHasEtcdTexts_A8() {
    anonymous.nameless(AuthClient.USER_ADD, user("", "pw"));
    anonymous.userAdd("u", "pw");
    anonymous.refused(
        AuthClient.USER_ADD,
        user("u", "pw"),
        FAILED_PRECONDITION,
        "etcdserver: user name already exists");
    enable();
    String tooLong = "bcrypt: password length exceeds 72 bytes";
    anonymous.refused(AuthClient.USER_ADD, user("v", "x".repeat(73)), UNKNOWN, tooLong);
    anonymous.refused(
        AuthClient.CHANGE_PASSWORD,
        AuthUserChangePasswordRequest.newBuilder().setName("u").setPassword("x".repeat(73)).build(),
        UNKNOWN,
        tooLong);
    anonymous.nameless(AuthClient.USER_ADD, user("v", "pw"));
    root.userAdd("empty", "");
    anonymous.login("empty", "");
  }

  @Test
  void unknownUsersAndRolesAreRefused_A9_A10() {
    String noUser = "etcdserver: user name not found";
    String noRole = "etcdserver: role name not found";
    anonymous.refused(AuthClient.USER_GET, get("u"), FAILED_PRECONDITION, noUser);
    anonymous.refused(
        AuthClient.USER_DELETE,
        AuthUserDeleteRequest.newBuilder().setName("u").build(),
        FAILED_PRECONDITION,
        noUser);
    anonymous.refused(
        AuthClient.CHANGE_PASSWORD,
        AuthUserChangePasswordRequest.newBuilder().setName("u").setPassword("x").build(),
        FAILED_PRECONDITION,
        noUser);
    anonymous.userAdd("u", "pw");
    anonymous.refused(
        AuthClient.GRANT_ROLE,
        AuthUserGrantRoleRequest.newBuilder().setUser("u").setRole("r").build(),
        FAILED_PRECONDITION,
        noRole);
    anonymous.refused(
        AuthClient.REVOKE_ROLE,
        AuthUserRevokeRoleRequest.newBuilder().setName("u").setRole("r").build(),
        FAILED_PRECONDITION,
        "etcdserver: role is not granted to the user");
    anonymous.refused(
        AuthClient.ROLE_ADD,
        AuthRoleAddRequest.getDefaultInstance(),
        INVALID_ARGUMENT,
        "etcdserver: role name is empty");
    anonymous.refused(
        AuthClient.ROLE_GET,
        AuthRoleGetRequest.newBuilder().setRole("r").build(),
        FAILED_PRECONDITION,
        noRole);
    anonymous.refused(
        AuthClient.ROLE_DELETE,
        AuthRoleDeleteRequest.newBuilder().setRole("r").build(),
        FAILED_PRECONDITION,
        noRole);
    anonymous.roleAdd("r");
    anonymous.refused(
        AuthClient.ROLE_ADD,
        AuthRoleAddRequest.newBuilder().setName("r").build(),
        FAILED_PRECONDITION,
        "etcdserver: role name already exists");
  }

  @Test
  void rootCannotBeChangedWhileAuthIsEnabled_A9() {
    enable();
    root.roleAdd("root");
    String invalid = "etcdserver: invalid auth management";
    root.refused(
        AuthClient.USER_DELETE,
        AuthUserDeleteRequest.newBuilder().setName("root").build(),
        INVALID_ARGUMENT,
        invalid);
    root.refused(
        AuthClient.REVOKE_ROLE,
        AuthUserRevokeRoleRequest.newBuilder().setName("root").setRole("root").build(),
        INVALID_ARGUMENT,
        invalid);
    root.refused(
        AuthClient.ROLE_DELETE,
        AuthRoleDeleteRequest.newBuilder().setRole("root").build(),
        INVALID_ARGUMENT,
        invalid);
  }

  @Test
  void emptyPasswordDisablesPasswordLogin_A9() {
    enable();
    root.userAdd("u", "1");
    root.changePassword("u", "");
    for (String password : new String[] {"", "1"}) {
      anonymous.refused(
          AuthClient.AUTHENTICATE,
          login("u", password),
          INVALID_ARGUMENT,
          "etcdserver: authentication failed, invalid user ID or password");
    }
  }

  private static AuthUserChangePasswordRequest hashed(String user, String base64) {
    return AuthUserChangePasswordRequest.newBuilder()
        .setName(user)
        .setHashedPassword(base64)
        .build();
  }

  @Test
  void givenPasswordHashIsStored_A9() {
    enable();
    root.userAdd("u", "1");
    byte[] hash = BCrypt.withDefaults().hash(4, "2".getBytes(StandardCharsets.UTF_8));
    String base64 = Base64.getEncoder().encodeToString(hash);
    root.call(AuthClient.CHANGE_PASSWORD, hashed("u", base64));
    anonymous.login("u", "2");
    root.call(AuthClient.CHANGE_PASSWORD, hashed("u", base64).toBuilder().setPassword("3").build());
    anonymous.login("u", "3");
    String noBase64 = "auth: authentication failed, password was given for no password user";
    root.refused(AuthClient.CHANGE_PASSWORD, hashed("u", "*"), UNKNOWN, noBase64);
    root.refused(AuthClient.CHANGE_PASSWORD, hashed("u", "YQ"), UNKNOWN, noBase64);
    anonymous.login("u", "3");
    root.refused(
        AuthClient.CHANGE_PASSWORD,
        hashed("no", "*"),
        FAILED_PRECONDITION,
        "etcdserver: user name not found");
    anonymous.nameless(AuthClient.CHANGE_PASSWORD, hashed("u", "*"));
    anonymous.login("u", "3").denied(AuthClient.CHANGE_PASSWORD, hashed("u", "*"));
    addUserWithoutPassword("cert");
    root.call(AuthClient.CHANGE_PASSWORD, hashed("cert", "*"));
  }

  /** No password matches a value that is no hash, and the value does no harm. */
  @Test
  void invalidHashMatchesNoPassword_A9() {
    enable();
    root.userAdd("u", "1");
    root.call(AuthClient.CHANGE_PASSWORD, hashed("u", "/wAB"));
    anonymous.refused(
        AuthClient.AUTHENTICATE,
        login("u", "1"),
        INVALID_ARGUMENT,
        "etcdserver: authentication failed, invalid user ID or password");
  }

  @Test
  void newUserIgnoresGivenHash_A8() {
    enable();
    byte[] hash = BCrypt.withDefaults().hash(4, "2".getBytes(StandardCharsets.UTF_8));
    root.call(
        AuthClient.USER_ADD,
        user("u", "").toBuilder()
            .setHashedPassword(Base64.getEncoder().encodeToString(hash))
            .build());
    anonymous.login("u", "");
  }
}
