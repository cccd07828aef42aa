package io.troupe.edge.calls;

import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import io.troupe.grpc.api.AuthDisableRequest;
import io.troupe.grpc.api.AuthEnableRequest;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthRoleDeleteRequest;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthRoleGrantPermissionRequest;
import io.troupe.grpc.api.AuthRoleListRequest;
import io.troupe.grpc.api.AuthRoleRevokePermissionRequest;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserChangePasswordRequest;
import io.troupe.grpc.api.AuthUserDeleteRequest;
import io.troupe.grpc.api.AuthUserGetRequest;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.AuthUserRevokeRoleRequest;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.server.AuthService;
import io.troupe.server.Call;
import java.util.concurrent.CompletionStage;

/** The paths of the Auth service (section 1.1). */
final class AuthEndpoints {
  private static final String AUTH = "etcdserverpb.Auth";

  private AuthEndpoints() {}

  private interface Method<Q> {
    CompletionStage<? extends MessageLite> call(Q request, Call call);
  }

  static void add(GrpcMethods methods, AuthService auth) {
    unary(methods, "AuthEnable", AuthEnableRequest.parser(), auth::enable);
    unary(methods, "AuthDisable", AuthDisableRequest.parser(), auth::disable);
    unary(methods, "AuthStatus", AuthStatusRequest.parser(), auth::status);
    unary(methods, "Authenticate", AuthenticateRequest.parser(), auth::authenticate);
    unary(methods, "UserAdd", AuthUserAddRequest.parser(), auth::userAdd);
    unary(methods, "UserGet", AuthUserGetRequest.parser(), auth::userGet);
    unary(methods, "UserList", AuthUserListRequest.parser(), auth::userList);
    unary(methods, "UserDelete", AuthUserDeleteRequest.parser(), auth::userDelete);
    unary(
        methods,
        "UserChangePassword",
        AuthUserChangePasswordRequest.parser(),
        auth::userChangePassword);
    unary(methods, "UserGrantRole", AuthUserGrantRoleRequest.parser(), auth::userGrantRole);
    unary(methods, "UserRevokeRole", AuthUserRevokeRoleRequest.parser(), auth::userRevokeRole);
    unary(methods, "RoleAdd", AuthRoleAddRequest.parser(), auth::roleAdd);
    unary(methods, "RoleGet", AuthRoleGetRequest.parser(), auth::roleGet);
    unary(methods, "RoleList", AuthRoleListRequest.parser(), auth::roleList);
    unary(methods, "RoleDelete", AuthRoleDeleteRequest.parser(), auth::roleDelete);
    unary(
        methods,
        "RoleGrantPermission",
        AuthRoleGrantPermissionRequest.parser(),
        auth::roleGrantPermission);
    unary(
        methods,
        "RoleRevokePermission",
        AuthRoleRevokePermissionRequest.parser(),
        auth::roleRevokePermission);
  }

  private static <Q> void unary(
      GrpcMethods methods, String name, Parser<Q> parser, Method<Q> method) {
    methods.unary(
        AUTH,
        name,
        (request, call) -> method.call(parser.parseFrom(request.toArrayUnsafe()), call));
  }
}
