package io.troupe.tests.conformance;

import static io.grpc.Status.Code.FAILED_PRECONDITION;
import static io.grpc.Status.Code.INVALID_ARGUMENT;
import static io.grpc.Status.Code.PERMISSION_DENIED;
import static io.grpc.Status.Code.UNAUTHENTICATED;
import static io.grpc.Status.Code.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import at.favre.lib.crypto.bcrypt.BCrypt;
import com.google.protobuf.ByteString;
import io.grpc.Metadata;
import io.troupe.grpc.api.AuthDisableRequest;
import io.troupe.grpc.api.AuthEnableRequest;
import io.troupe.grpc.api.AuthEnableResponse;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthRoleAddResponse;
import io.troupe.grpc.api.AuthRoleDeleteRequest;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthRoleGrantPermissionRequest;
import io.troupe.grpc.api.AuthRoleListRequest;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthStatusResponse;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserChangePasswordRequest;
import io.troupe.grpc.api.AuthUserDeleteRequest;
import io.troupe.grpc.api.AuthUserGetRequest;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.AuthUserRevokeRoleRequest;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.auth.Permission;
import io.troupe.grpc.api.auth.UserAddOptions;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.14: users, roles, logins. AuthorisationConformanceTest covers permissions on keys. */
class AuthConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create().with("bcrypt-cost", "4");

  private AuthClient anonymous = AuthClient.anonymous(STORE.client());
  private AuthClient root = anonymous;

  @BeforeEach
  void begin() {
    anonymous = AuthClient.anonymous(STORE.client());
    root = anonymous;
  }

  /** Restores the initial state of the store. */
  @AfterEach
  void forgetAll() {
    if (anonymous.call(AuthClient.STATUS, AuthStatusRequest.getDefaultInstance()).getEnabled()) {
      anonymous.login("root", "pw").disable();
    }
    anonymous
        .call(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance())
        .getUsersList()
        .forEach(anonymous::userDelete);
    anonymous
        .call(AuthClient.ROLE_LIST, AuthRoleListRequest.getDefaultInstance())
        .getRolesList()
        .forEach(anonymous::roleDelete);
  }

  private void addUserWithoutPassword(String name) {
    root.call(
        AuthClient.USER_ADD,
        AuthUserAddRequest.newBuilder()
            .setName(name)
            .setOptions(UserAddOptions.newBuilder().setNoPassword(true))
            .build());
  }

  private void enable() {
    anonymous.userAdd("root", "pw");
    anonymous.grantRole("root", "root");
    anonymous.enable();
    root = anonymous.login("root", "pw");
  }

  private static AuthUserAddRequest user(String name, String password) {
    return AuthUserAddRequest.newBuilder().setName(name).setPassword(password).build();
  }

  private static AuthenticateRequest login(String name, String password) {
    return AuthenticateRequest.newBuilder().setName(name).setPassword(password).build();
  }

  private static AuthUserGetRequest get(String name) {
    return AuthUserGetRequest.newBuilder().setName(name).build();
  }

  @Test
  void authEnableNeedsRootUserWithRootRole_A1() {
    anonymous.refused(
        AuthClient.ENABLE,
        AuthEnableRequest.getDefaultInstance(),
        FAILED_PRECONDITION,
        "etcdserver: root user does not exist");
    anonymous.userAdd("root", "pw");
    anonymous.refused(
        AuthClient.ENABLE,
        AuthEnableRequest.getDefaultInstance(),
        FAILED_PRECONDITION,
        "etcdserver: root user does not have root role");
    anonymous.grantRole("root", "root");
    anonymous.disable();
    anonymous.enable();
    root = anonymous.login("root", "pw");
    root.enable();
    anonymous.nameless(AuthClient.ENABLE, AuthEnableRequest.getDefaultInstance());
    anonymous.nameless(AuthClient.DISABLE, AuthDisableRequest.getDefaultInstance());
    root.disable();
    anonymous.disable();
  }

  @Test
  void addedRootRoleListsFullPermission_A2() {
    enable();
    AuthRoleGetRequest get = AuthRoleGetRequest.newBuilder().setRole("root").build();
    root.refused(AuthClient.ROLE_GET, get, FAILED_PRECONDITION, "etcdserver: role name not found");
    root.roleAdd("root");
    assertThat(root.call(AuthClient.ROLE_GET, get).getPermList())
        .containsExactly(
            Permission.newBuilder()
                .setPermType(Permission.Type.READWRITE)
                .setRangeEnd(ByteString.copyFrom(new byte[1]))
                .build());
  }

  @Test
  void missingOrInvalidTokenIsRefused_A3() {
    enable();
    anonymous.nameless(Api.PUT, Requests.put(STORE.key("a"), "1").build());
    anonymous.nameless(Api.RANGE, Requests.get(STORE.key("a")).build());
    anonymous.nameless(Api.STATUS, StatusRequest.getDefaultInstance());
    for (String token : new String[] {"x", "abcdefghijklmnop.1", "abcdefghijklmnop.999999999"}) {
      anonymous
          .showing(token)
          .refused(
              Api.PUT,
              Requests.put(STORE.key("a"), "1").build(),
              UNAUTHENTICATED,
              "etcdserver: invalid auth token");
      anonymous
          .showing(token)
          .refused(
              Api.RANGE,
              Requests.get(STORE.key("a")).setSerializable(true).build(),
              UNAUTHENTICATED,
              "etcdserver: invalid auth token");
    }
    root.call(Api.PUT, Requests.put(STORE.key("a"), "1").build());
  }

  /** The metadata key decides, even with an empty value: the member checks no other proof. */
  @Test
  void emptyTokenIsInvalid_A3() {
    enable();
    for (String[] headers :
        new String[][] {
          {"token", ""},
          {"authorization", ""},
          {"authorization", "Bearer "},
          {"token", "", "authorization", root.token()}
        }) {
      Metadata metadata = new Metadata();
      for (int i = 0; i < headers.length; i += 2) {
        metadata.put(Metadata.Key.of(headers[i], Metadata.ASCII_STRING_MARSHALLER), headers[i + 1]);
      }
      assertThatThrownBy(
              () -> STORE.client().call(Api.RANGE, Requests.get(STORE.key("a")).build(), metadata))
          .hasMessage("UNAUTHENTICATED: etcdserver: invalid auth token");
    }
  }

  @Test
  void tokensAreReadFromEitherHeaderWithOrWithoutBearer_T5() {
    enable();
    for (String header : new String[] {"token", "authorization"}) {
      for (String before : new String[] {"", "Bearer "}) {
        Metadata metadata = new Metadata();
        metadata.put(
            Metadata.Key.of(header, Metadata.ASCII_STRING_MARSHALLER), before + root.token());
        STORE.client().call(Api.RANGE, Requests.get(STORE.key("a")).build(), metadata);
      }
    }
  }

  @Test
  void refusedLoginsHaveEtcdTexts_A4() {
    anonymous.refused(
        AuthClient.AUTHENTICATE,
        login("root", "pw"),
        FAILED_PRECONDITION,
        "etcdserver: authentication is not enabled");
    enable();
    for (AuthenticateRequest wrong :
        new AuthenticateRequest[] {login("root", "no"), login("root", ""), login("no", "pw")}) {
      anonymous.refused(
          AuthClient.AUTHENTICATE,
          wrong,
          INVALID_ARGUMENT,
          "etcdserver: authentication failed, invalid user ID or password");
    }
    addUserWithoutPassword("cert");
    anonymous.refused(
        AuthClient.AUTHENTICATE,
        login("cert", "pw"),
        UNKNOWN,
        "auth: authentication failed, password was given for no password user");
  }

  @Test
  void simpleTokensEndWithPasswordChangeAndUserDeletion_A5() {
    enable();
    assertThat(root.token()).matches("[a-zA-Z]{16}\\.[0-9]+");
    root.userAdd("u", "1");
    AuthClient user = anonymous.login("u", "1");
    assertThat(user.call(AuthClient.USER_GET, get("u")).getRolesList()).isEmpty();
    root.changePassword("u", "2");
    user.refused(AuthClient.USER_GET, get("u"), UNAUTHENTICATED, "etcdserver: invalid auth token");
    anonymous.refused(
        AuthClient.AUTHENTICATE,
        login("u", "1"),
        INVALID_ARGUMENT,
        "etcdserver: authentication failed, invalid user ID or password");
    AuthClient again = anonymous.login("u", "2");
    again.call(AuthClient.USER_GET, get("u"));
    root.userDelete("u");
    again.refused(AuthClient.USER_GET, get("u"), UNAUTHENTICATED, "etcdserver: invalid auth token");
    root.disable();
    anonymous.enable();
    root.refused(
        AuthClient.USER_LIST,
        AuthUserListRequest.getDefaultInstance(),
        UNAUTHENTICATED,
        "etcdserver: invalid auth token");
  }

  @Test
  void authRevisionCountsChanges_A7_A16() {
    long before = anonymous.authRevision();
    enable();
    assertThat(anonymous.authRevision()).isEqualTo(before + 2);
    root.roleAdd("r");
    root.grant("r", Permission.Type.READ, "a", "");
    root.grantRole("root", "r");
    root.grantRole("root", "r");
    root.revokeRole("root", "r");
    AuthStatusResponse status =
        anonymous.call(AuthClient.STATUS, AuthStatusRequest.getDefaultInstance());
    assertThat(status.getAuthRevision()).isEqualTo(before + 6);
    assertThat(status.getEnabled()).isTrue();
    // Tests simple tokens too.
    root.call(Api.RANGE, Requests.get(STORE.key("a")).build());
    anonymous
        .showing("x")
        .refused(
            AuthClient.STATUS,
            AuthStatusRequest.getDefaultInstance(),
            UNAUTHENTICATED,
            "etcdserver: invalid auth token");
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

  @Test
  void grantPermissionHasEtcdTexts_A11() {
    anonymous.roleAdd("r");
    anonymous.refused(
        AuthClient.GRANT_PERMISSION,
        AuthRoleGrantPermissionRequest.newBuilder().setName("r").build(),
        INVALID_ARGUMENT,
        "etcdserver: permission not given");
    for (String[] wrong : new String[][] {{"", ""}, {"b", "a"}, {"b", "b"}}) {
      anonymous.refused(
          AuthClient.GRANT_PERMISSION,
          AuthClient.granting("r", Permission.Type.READ, wrong[0], wrong[1]),
          INVALID_ARGUMENT,
          "etcdserver: invalid auth management");
    }
    for (String[] wrong : new String[][] {{"r", "k"}, {"r", ""}, {"none", ""}}) {
      anonymous.refused(
          AuthClient.GRANT_PERMISSION,
          ofUnknownType(wrong[0], wrong[1]),
          INVALID_ARGUMENT,
          "etcdserver: invalid auth management");
    }
    anonymous.refused(
        AuthClient.GRANT_PERMISSION,
        ofUnknownType("none", "k"),
        FAILED_PRECONDITION,
        "etcdserver: role name not found");
    anonymous.grant("r", Permission.Type.READ, "k", "m");
    anonymous.grant("r", Permission.Type.READ, "k", "n");
    anonymous.grant("r", Permission.Type.WRITE, "k", "n");
    anonymous.grant("r", Permission.Type.READWRITE, "a", "\0");
    AuthRoleGetRequest get = AuthRoleGetRequest.newBuilder().setRole("r").build();
    assertThat(anonymous.call(AuthClient.ROLE_GET, get).getPermList())
        .extracting(
            permission ->
                permission.getPermType()
                    + " "
                    + permission.getKey().toStringUtf8()
                    + " "
                    + permission.getRangeEnd().toStringUtf8())
        .containsExactly("READWRITE a \0", "READ k m", "READ k n", "WRITE k n");
    anonymous.call(AuthClient.REVOKE_PERMISSION, AuthClient.revoking("r", "k", "n"));
    anonymous.refused(
        AuthClient.REVOKE_PERMISSION,
        AuthClient.revoking("r", "k", "n"),
        FAILED_PRECONDITION,
        "etcdserver: permission is not granted to the role");
    anonymous.refused(
        AuthClient.REVOKE_PERMISSION,
        AuthClient.revoking("s", "k", "n"),
        FAILED_PRECONDITION,
        "etcdserver: role name not found");
    assertThat(anonymous.call(AuthClient.ROLE_GET, get).getPermCount()).isEqualTo(2);
  }

  @Test
  void permissionTypeIsCheckedAfterRoot_A13() {
    enable();
    AuthRoleGrantPermissionRequest request = ofUnknownType("none", "");
    anonymous.refused(
        AuthClient.GRANT_PERMISSION, request, INVALID_ARGUMENT, "etcdserver: user name is empty");
    root.userAdd("alice", "pw");
    anonymous
        .login("alice", "pw")
        .refused(
            AuthClient.GRANT_PERMISSION,
            request,
            PERMISSION_DENIED,
            "etcdserver: permission denied");
    root.refused(
        AuthClient.GRANT_PERMISSION,
        request,
        INVALID_ARGUMENT,
        "etcdserver: invalid auth management");
  }

  private static AuthRoleGrantPermissionRequest ofUnknownType(String role, String key) {
    return AuthRoleGrantPermissionRequest.newBuilder()
        .setName(role)
        .setPerm(Permission.newBuilder().setPermTypeValue(9).setKey(ByteString.copyFromUtf8(key)))
        .build();
  }

  @Test
  void onlyRootManagesUsersAndUsersReadThemselves_A13() {
    enable();
    root.userAdd("u", "1");
    root.roleAdd("r");
    root.roleAdd("s");
    root.grantRole("u", "r");
    AuthClient user = anonymous.login("u", "1");
    user.denied(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance());
    user.denied(AuthClient.ROLE_LIST, AuthRoleListRequest.getDefaultInstance());
    user.denied(AuthClient.USER_ADD, user("v", "1"));
    user.denied(AuthClient.USER_GET, get("root"));
    user.denied(
        AuthClient.CHANGE_PASSWORD,
        AuthUserChangePasswordRequest.newBuilder().setName("u").setPassword("2").build());
    user.denied(AuthClient.ENABLE, AuthEnableRequest.getDefaultInstance());
    user.denied(AuthClient.DISABLE, AuthDisableRequest.getDefaultInstance());
    user.denied(AuthClient.ROLE_GET, AuthRoleGetRequest.newBuilder().setRole("s").build());
    assertThat(user.call(AuthClient.USER_GET, get("u")).getRolesList()).containsExactly("r");
    user.call(AuthClient.ROLE_GET, AuthRoleGetRequest.newBuilder().setRole("r").build());
    anonymous.nameless(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance());
    anonymous.refused(
        AuthClient.USER_GET, get("u"), INVALID_ARGUMENT, "etcdserver: user name is empty");
    // The empty name is no user.
    anonymous.refused(
        AuthClient.USER_GET, get(""), FAILED_PRECONDITION, "etcdserver: user name not found");
    user.denied(AuthClient.USER_GET, get(""));
    user.refused(
        AuthClient.ROLE_ADD,
        AuthRoleAddRequest.newBuilder().setName("x").build(),
        PERMISSION_DENIED,
        "etcdserver: permission denied");
  }

  @Test
  void namesAreSorted_A15() {
    for (String name : new String[] {"b", "a", "\u00e4", "ab", "B"}) {
      anonymous.userAdd(name, "");
      anonymous.roleAdd(name);
      anonymous.grantRole("b", name);
    }
    String[] sorted = {"B", "a", "ab", "b", "\u00e4"};
    assertThat(
            anonymous
                .call(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance())
                .getUsersList())
        .containsExactly(sorted);
    assertThat(
            anonymous
                .call(AuthClient.ROLE_LIST, AuthRoleListRequest.getDefaultInstance())
                .getRolesList())
        .containsExactly(sorted);
    assertThat(anonymous.call(AuthClient.USER_GET, get("b")).getRolesList())
        .containsExactly(sorted);
  }

  @Test
  void responsesHaveFullHeadersAndKeepRevision_A18() {
    long before = STORE.client().revision();
    AuthRoleAddResponse added =
        anonymous.call(AuthClient.ROLE_ADD, AuthRoleAddRequest.newBuilder().setName("r").build());
    assertThat(added.getHeader().getRevision()).isEqualTo(before);
    assertThat(added.getHeader().getClusterId()).isNotZero();
    assertThat(added.getHeader().getMemberId()).isNotZero();
    assertThat(added.getHeader().getRaftTerm()).isPositive();
    anonymous.userAdd("root", "pw");
    anonymous.grantRole("root", "root");
    AuthEnableResponse enabled =
        anonymous.call(AuthClient.ENABLE, AuthEnableRequest.getDefaultInstance());
    assertThat(enabled.getHeader().getRevision()).isEqualTo(before);
  }
}
