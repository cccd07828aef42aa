package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.troupe.grpc.api.AuthDisableRequest;
import io.troupe.grpc.api.AuthDisableResponse;
import io.troupe.grpc.api.AuthEnableRequest;
import io.troupe.grpc.api.AuthEnableResponse;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthRoleAddResponse;
import io.troupe.grpc.api.AuthRoleDeleteRequest;
import io.troupe.grpc.api.AuthRoleDeleteResponse;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthRoleGetResponse;
import io.troupe.grpc.api.AuthRoleGrantPermissionRequest;
import io.troupe.grpc.api.AuthRoleGrantPermissionResponse;
import io.troupe.grpc.api.AuthRoleListRequest;
import io.troupe.grpc.api.AuthRoleListResponse;
import io.troupe.grpc.api.AuthRoleRevokePermissionRequest;
import io.troupe.grpc.api.AuthRoleRevokePermissionResponse;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthStatusResponse;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserAddResponse;
import io.troupe.grpc.api.AuthUserChangePasswordRequest;
import io.troupe.grpc.api.AuthUserChangePasswordResponse;
import io.troupe.grpc.api.AuthUserDeleteRequest;
import io.troupe.grpc.api.AuthUserDeleteResponse;
import io.troupe.grpc.api.AuthUserGetRequest;
import io.troupe.grpc.api.AuthUserGetResponse;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import io.troupe.grpc.api.AuthUserGrantRoleResponse;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.AuthUserListResponse;
import io.troupe.grpc.api.AuthUserRevokeRoleRequest;
import io.troupe.grpc.api.AuthUserRevokeRoleResponse;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.AuthenticateResponse;
import io.troupe.grpc.api.auth.Permission;
import java.util.concurrent.TimeUnit;

/** A caller with or without a token, and the methods of the Auth service. */
final class AuthClient {
  static final MethodDescriptor<AuthEnableRequest, AuthEnableResponse> ENABLE =
      auth(
          "AuthEnable",
          AuthEnableRequest.getDefaultInstance(),
          AuthEnableResponse.getDefaultInstance());
  static final MethodDescriptor<AuthDisableRequest, AuthDisableResponse> DISABLE =
      auth(
          "AuthDisable",
          AuthDisableRequest.getDefaultInstance(),
          AuthDisableResponse.getDefaultInstance());
  static final MethodDescriptor<AuthStatusRequest, AuthStatusResponse> STATUS =
      auth(
          "AuthStatus",
          AuthStatusRequest.getDefaultInstance(),
          AuthStatusResponse.getDefaultInstance());
  static final MethodDescriptor<AuthenticateRequest, AuthenticateResponse> AUTHENTICATE =
      auth(
          "Authenticate",
          AuthenticateRequest.getDefaultInstance(),
          AuthenticateResponse.getDefaultInstance());
  static final MethodDescriptor<AuthUserAddRequest, AuthUserAddResponse> USER_ADD =
      auth(
          "UserAdd",
          AuthUserAddRequest.getDefaultInstance(),
          AuthUserAddResponse.getDefaultInstance());
  static final MethodDescriptor<AuthUserGetRequest, AuthUserGetResponse> USER_GET =
      auth(
          "UserGet",
          AuthUserGetRequest.getDefaultInstance(),
          AuthUserGetResponse.getDefaultInstance());
  static final MethodDescriptor<AuthUserListRequest, AuthUserListResponse> USER_LIST =
      auth(
          "UserList",
          AuthUserListRequest.getDefaultInstance(),
          AuthUserListResponse.getDefaultInstance());
  static final MethodDescriptor<AuthUserDeleteRequest, AuthUserDeleteResponse> USER_DELETE =
      auth(
          "UserDelete",
          AuthUserDeleteRequest.getDefaultInstance(),
          AuthUserDeleteResponse.getDefaultInstance());
  static final MethodDescriptor<AuthUserChangePasswordRequest, AuthUserChangePasswordResponse>
      CHANGE_PASSWORD =
          auth(
              "UserChangePassword",
              AuthUserChangePasswordRequest.getDefaultInstance(),
              AuthUserChangePasswordResponse.getDefaultInstance());
  static final MethodDescriptor<AuthUserGrantRoleRequest, AuthUserGrantRoleResponse> GRANT_ROLE =
      auth(
          "UserGrantRole",
          AuthUserGrantRoleRequest.getDefaultInstance(),
          AuthUserGrantRoleResponse.getDefaultInstance());
  static final MethodDescriptor<AuthUserRevokeRoleRequest, AuthUserRevokeRoleResponse> REVOKE_ROLE =
      auth(
          "UserRevokeRole",
          AuthUserRevokeRoleRequest.getDefaultInstance(),
          AuthUserRevokeRoleResponse.getDefaultInstance());
  static final MethodDescriptor<AuthRoleAddRequest, AuthRoleAddResponse> ROLE_ADD =
      auth(
          "RoleAdd",
          AuthRoleAddRequest.getDefaultInstance(),
          AuthRoleAddResponse.getDefaultInstance());
  static final MethodDescriptor<AuthRoleGetRequest, AuthRoleGetResponse> ROLE_GET =
      auth(
          "RoleGet",
          AuthRoleGetRequest.getDefaultInstance(),
          AuthRoleGetResponse.getDefaultInstance());
  static final MethodDescriptor<AuthRoleListRequest, AuthRoleListResponse> ROLE_LIST =
      auth(
          "RoleList",
          AuthRoleListRequest.getDefaultInstance(),
          AuthRoleListResponse.getDefaultInstance());
  static final MethodDescriptor<AuthRoleDeleteRequest, AuthRoleDeleteResponse> ROLE_DELETE =
      auth(
          "RoleDelete",
          AuthRoleDeleteRequest.getDefaultInstance(),
          AuthRoleDeleteResponse.getDefaultInstance());
  static final MethodDescriptor<AuthRoleGrantPermissionRequest, AuthRoleGrantPermissionResponse>
      GRANT_PERMISSION =
          auth(
              "RoleGrantPermission",
              AuthRoleGrantPermissionRequest.getDefaultInstance(),
              AuthRoleGrantPermissionResponse.getDefaultInstance());
  static final MethodDescriptor<AuthRoleRevokePermissionRequest, AuthRoleRevokePermissionResponse>
      REVOKE_PERMISSION =
          auth(
              "RoleRevokePermission",
              AuthRoleRevokePermissionRequest.getDefaultInstance(),
              AuthRoleRevokePermissionResponse.getDefaultInstance());

  private final ApiClient client;
  private final String token;

  private AuthClient(ApiClient client, String token) {
    this.client = client;
    this.token = token;
  }

  private static <Q extends Message, R extends Message> MethodDescriptor<Q, R> auth(
      String name, Q request, R response) {
    return Api.unary("etcdserverpb.Auth", name, request, response);
  }

  /** A caller without a token. */
  static AuthClient anonymous(ApiClient client) {
    return new AuthClient(client, "");
  }

  /** The same connection with another token. */
  AuthClient showing(String other) {
    return new AuthClient(client, other);
  }

  /** Logs in. */
  AuthClient login(String user, String password) {
    return showing(
        call(
                AUTHENTICATE,
                AuthenticateRequest.newBuilder().setName(user).setPassword(password).build())
            .getToken());
  }

  String token() {
    return token;
  }

  /** The connection with the token on every call. */
  Channel channel() {
    if (token.isEmpty()) {
      return client.channel();
    }
    Metadata metadata = new Metadata();
    metadata.put(Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER), token);
    return ClientInterceptors.intercept(
        client.channel(), MetadataUtils.newAttachHeadersInterceptor(metadata));
  }

  <Q, R> R call(MethodDescriptor<Q, R> method, Q request) {
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS);
    return method.getType().serverSendsOneMessage()
        ? ClientCalls.blockingUnaryCall(channel(), method, options, request)
        : ClientCalls.blockingServerStreamingCall(channel(), method, options, request).next();
  }

  <Q, R> void refused(MethodDescriptor<Q, R> method, Q request, Status.Code code, String text) {
    try {
      R answer = call(method, request);
      fail("expected %s \"%s\" but got %s", code, text, answer);
    } catch (StatusRuntimeException refusal) {
      assertThat(refusal.getStatus().getDescription()).isEqualTo(text);
      assertThat(refusal.getStatus().getCode()).isEqualTo(code);
    }
  }

  <Q, R> void denied(MethodDescriptor<Q, R> method, Q request) {
    refused(method, request, Status.Code.PERMISSION_DENIED, "etcdserver: permission denied");
  }

  <Q, R> void nameless(MethodDescriptor<Q, R> method, Q request) {
    refused(method, request, Status.Code.INVALID_ARGUMENT, "etcdserver: user name is empty");
  }

  long authRevision() {
    return call(STATUS, AuthStatusRequest.getDefaultInstance()).getAuthRevision();
  }

  void enable() {
    call(ENABLE, AuthEnableRequest.getDefaultInstance());
  }

  void disable() {
    call(DISABLE, AuthDisableRequest.getDefaultInstance());
  }

  void userAdd(String user, String password) {
    call(USER_ADD, AuthUserAddRequest.newBuilder().setName(user).setPassword(password).build());
  }

  void userDelete(String user) {
    call(USER_DELETE, AuthUserDeleteRequest.newBuilder().setName(user).build());
  }

  void changePassword(String user, String password) {
    call(
        CHANGE_PASSWORD,
        AuthUserChangePasswordRequest.newBuilder().setName(user).setPassword(password).build());
  }

  void grantRole(String user, String role) {
    call(GRANT_ROLE, AuthUserGrantRoleRequest.newBuilder().setUser(user).setRole(role).build());
  }

  void revokeRole(String user, String role) {
    call(REVOKE_ROLE, AuthUserRevokeRoleRequest.newBuilder().setName(user).setRole(role).build());
  }

  void roleAdd(String role) {
    call(ROLE_ADD, AuthRoleAddRequest.newBuilder().setName(role).build());
  }

  void roleDelete(String role) {
    call(ROLE_DELETE, AuthRoleDeleteRequest.newBuilder().setRole(role).build());
  }

  void grant(String role, Permission.Type type, String key, String end) {
    call(GRANT_PERMISSION, granting(role, type, key, end));
  }

  static AuthRoleGrantPermissionRequest granting(
      String role, Permission.Type type, String key, String end) {
    return AuthRoleGrantPermissionRequest.newBuilder()
        .setName(role)
        .setPerm(
            Permission.newBuilder()
                .setPermType(type)
                .setKey(ByteString.copyFromUtf8(key))
                .setRangeEnd(ByteString.copyFromUtf8(end)))
        .build();
  }

  static AuthRoleRevokePermissionRequest revoking(String role, String key, String end) {
    return AuthRoleRevokePermissionRequest.newBuilder()
        .setRole(role)
        .setKey(ByteString.copyFromUtf8(key))
        .setRangeEnd(ByteString.copyFromUtf8(end))
        .build();
  }
}
