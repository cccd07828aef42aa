package io.troupe.tests.conformance;

import static io.grpc.Status.Code.FAILED_PRECONDITION;
import static io.grpc.Status.Code.INVALID_ARGUMENT;
import static io.grpc.Status.Code.PERMISSION_DENIED;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.AuthDisableRequest;
import io.troupe.grpc.api.AuthEnableRequest;
import io.troupe.grpc.api.AuthEnableResponse;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthRoleAddResponse;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthRoleGrantPermissionRequest;
import io.troupe.grpc.api.AuthRoleListRequest;
import io.troupe.grpc.api.AuthUserChangePasswordRequest;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.auth.Permission;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 2.14: roles, who may manage users and roles, and the form of the responses. */
class AuthRoleConformanceTest extends AuthStore {
  @RegisterExtension static final ServedStore STORE = ServedStore.create().with("bcrypt-cost", "4");

  AuthRoleConformanceTest() {
    super(STORE);
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
