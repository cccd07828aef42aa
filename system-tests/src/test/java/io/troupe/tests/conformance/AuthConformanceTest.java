package io.troupe.tests.conformance;

import static io.grpc.Status.Code.FAILED_PRECONDITION;
import static io.grpc.Status.Code.INVALID_ARGUMENT;
import static io.grpc.Status.Code.UNAUTHENTICATED;
import static io.grpc.Status.Code.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.Metadata;
import io.troupe.grpc.api.AuthDisableRequest;
import io.troupe.grpc.api.AuthEnableRequest;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthStatusResponse;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.auth.Permission;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Section 2.14: turning authentication on, logins and tokens. AuthUserConformanceTest covers users,
 * AuthRoleConformanceTest roles, AuthorisationConformanceTest permissions on keys.
 */
class AuthConformanceTest extends AuthStore {
  @RegisterExtension static final ServedStore STORE = ServedStore.create().with("bcrypt-cost", "4");

  AuthConformanceTest() {
    super(STORE);
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
}
