package io.troupe.server;

import com.google.protobuf.ByteString;
import io.troupe.auth.AuthRules;
import io.troupe.auth.AuthState;
import io.troupe.auth.Authorizer;
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
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.auth.Permission;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.RefusedException;
import io.troupe.server.auth.Passwords;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Section 2.14. Changes go through the log and are checked when they are applied; responses carry
 * full headers (A18).
 */
public final class AuthService {
  private final Member member;
  private final ReadIndexBatcher reads;
  private final Proposer proposer;
  private final CallerResolver callers;
  private final Passwords passwords;
  private final Authentication authentication;

  AuthService(
      Member member,
      ReadIndexBatcher reads,
      Proposer proposer,
      CallerResolver callers,
      Logins logins) {
    this.member = member;
    this.reads = reads;
    this.proposer = proposer;
    this.callers = callers;
    this.passwords = logins.passwords();
    this.authentication = new Authentication(member, reads, proposer, logins);
  }

  private <R> CompletionStage<R> change(
      Operation operation, Call call, Function<ResponseHeader, R> response) {
    return callers
        .writer(call)
        .thenCompose(who -> proposer.propose(who, operation, call))
        .thenApply(result -> response.apply(member.header(((Result.Done) result).revision())));
  }

  /** A1. */
  public CompletionStage<AuthEnableResponse> enable(AuthEnableRequest request, Call call) {
    return change(
        new Operation.AuthEnable(),
        call,
        header -> AuthEnableResponse.newBuilder().setHeader(header).build());
  }

  /** A1. */
  public CompletionStage<AuthDisableResponse> disable(AuthDisableRequest request, Call call) {
    return change(
        new Operation.AuthDisable(),
        call,
        header -> AuthDisableResponse.newBuilder().setHeader(header).build());
  }

  /** A16; a token in the call must be valid (A13). */
  public CompletionStage<AuthStatusResponse> status(AuthStatusRequest request, Call call) {
    return reads.linearizable(
        call.trace(),
        ReadIndexBatcher.Kind.POINT,
        () -> {
          AuthState auth = member.state().auth();
          callers.now(call, auth);
          return AuthStatusResponse.newBuilder()
              .setHeader(member.header())
              .setEnabled(auth.isEnabled())
              .setAuthRevision(auth.revision())
              .build();
        });
  }

  /** A4. */
  public CompletionStage<AuthenticateResponse> authenticate(
      AuthenticateRequest request, Call call) {
    return authentication.token(request.getName(), request.getPassword(), call);
  }

  /** A8: checks the length of the password first, and hashes passwords only for root. */
  public CompletionStage<AuthUserAddResponse> userAdd(AuthUserAddRequest request, Call call) {
    boolean noPassword = request.getOptions().getNoPassword();
    if (!noPassword) {
      Passwords.checkLength(request.getPassword());
    }
    return hashed(noPassword ? null : request.getPassword(), call)
        .thenCompose(
            hash ->
                change(
                    new Operation.UserAdd(request.getName(), hash, noPassword),
                    call,
                    header -> AuthUserAddResponse.newBuilder().setHeader(header).build()));
  }

  /** A9; without a password the request may contain a hash. */
  public CompletionStage<AuthUserChangePasswordResponse> userChangePassword(
      AuthUserChangePasswordRequest request, Call call) {
    Passwords.checkLength(request.getPassword());
    CompletionStage<String> hashed =
        request.getPassword().isEmpty()
            ? given(request.getName(), request.getHashedPassword(), call)
            : hashed(request.getPassword(), call);
    return hashed.thenCompose(
        hash ->
            change(
                new Operation.UserChangePassword(request.getName(), hash),
                call,
                header -> AuthUserChangePasswordResponse.newBuilder().setHeader(header).build()));
  }

  /** The hash, or empty without a password; only for root, because hashing takes long. */
  private CompletionStage<String> hashed(@Nullable String password, Call call) {
    if (password == null) {
      return CompletableFuture.completedFuture("");
    }
    return callers
        .of(call)
        .thenCompose(
            known ->
                reads.linearizable(
                    call.trace(),
                    ReadIndexBatcher.Kind.POINT,
                    () -> callers.read(call, Authorizer::root, () -> known)))
        .thenCompose(root -> passwords.hash(password, call::isAbandoned));
  }

  /** The hash in the request; invalid base64 is reported in the order of etcd's other errors. */
  private CompletionStage<String> given(String name, String base64, Call call) {
    try {
      return CompletableFuture.completedFuture(Passwords.decoded(base64));
    } catch (IllegalArgumentException wrong) {
      return read(
          call,
          Authorizer::root,
          auth -> {
            AuthUser user = auth.user(name);
            if (user == null) {
              throw new RefusedException(Refusal.USER_NOT_FOUND);
            }
            if (!user.noPassword()) {
              throw Passwords.noPasswordUser();
            }
            return "";
          });
    }
  }

  /** A9. */
  public CompletionStage<AuthUserDeleteResponse> userDelete(
      AuthUserDeleteRequest request, Call call) {
    return change(
        new Operation.UserDelete(request.getName()),
        call,
        header -> AuthUserDeleteResponse.newBuilder().setHeader(header).build());
  }

  /** A9. */
  public CompletionStage<AuthUserGrantRoleResponse> userGrantRole(
      AuthUserGrantRoleRequest request, Call call) {
    return change(
        new Operation.UserGrantRole(request.getUser(), request.getRole()),
        call,
        header -> AuthUserGrantRoleResponse.newBuilder().setHeader(header).build());
  }

  /** A9. */
  public CompletionStage<AuthUserRevokeRoleResponse> userRevokeRole(
      AuthUserRevokeRoleRequest request, Call call) {
    return change(
        new Operation.UserRevokeRole(request.getName(), request.getRole()),
        call,
        header -> AuthUserRevokeRoleResponse.newBuilder().setHeader(header).build());
  }

  /** A9, A15. */
  public CompletionStage<AuthUserGetResponse> userGet(AuthUserGetRequest request, Call call) {
    return read(
        call,
        (authorizer, who) -> authorizer.seeUser(who, request.getName()),
        auth -> {
          AuthUser user = auth.user(request.getName());
          if (user == null) {
            throw new RefusedException(Refusal.USER_NOT_FOUND);
          }
          return AuthUserGetResponse.newBuilder()
              .setHeader(member.header())
              .addAllRoles(user.roles())
              .build();
        });
  }

  /** A15. */
  public CompletionStage<AuthUserListResponse> userList(AuthUserListRequest request, Call call) {
    return read(
        call,
        Authorizer::root,
        auth ->
            AuthUserListResponse.newBuilder()
                .setHeader(member.header())
                .addAllUsers(auth.users().keySet())
                .build());
  }

  /** A10. */
  public CompletionStage<AuthRoleAddResponse> roleAdd(AuthRoleAddRequest request, Call call) {
    return change(
        new Operation.RoleAdd(request.getName()),
        call,
        header -> AuthRoleAddResponse.newBuilder().setHeader(header).build());
  }

  /** A10. */
  public CompletionStage<AuthRoleDeleteResponse> roleDelete(
      AuthRoleDeleteRequest request, Call call) {
    return change(
        new Operation.RoleDelete(request.getRole()),
        call,
        header -> AuthRoleDeleteResponse.newBuilder().setHeader(header).build());
  }

  /** A10; the role root is returned with all permissions (A2). */
  public CompletionStage<AuthRoleGetResponse> roleGet(AuthRoleGetRequest request, Call call) {
    return read(
        call,
        (authorizer, who) -> authorizer.seeRole(who, request.getRole()),
        auth -> {
          AuthRole role = auth.role(request.getRole());
          if (role == null) {
            throw new RefusedException(Refusal.ROLE_NOT_FOUND);
          }
          AuthRoleGetResponse.Builder out =
              AuthRoleGetResponse.newBuilder().setHeader(member.header());
          if (role.name().equals(AuthState.ROOT)) {
            return out.addPerm(
                    Permission.newBuilder()
                        .setPermType(Permission.Type.READWRITE)
                        .setRangeEnd(ByteString.copyFrom(new byte[1])))
                .build();
          }
          role.permissions().forEach(permission -> out.addPerm(shown(permission)));
          return out.build();
        });
  }

  private static Permission shown(io.troupe.model.Permission permission) {
    return Permission.newBuilder()
        .setPermTypeValue(permission.type().code())
        .setKey(ApiConverter.bytes(permission.range().key()))
        .setRangeEnd(ApiConverter.bytes(permission.range().rangeEnd()))
        .build();
  }

  /** A15. */
  public CompletionStage<AuthRoleListResponse> roleList(AuthRoleListRequest request, Call call) {
    return read(
        call,
        Authorizer::root,
        auth ->
            AuthRoleListResponse.newBuilder()
                .setHeader(member.header())
                .addAllRoles(auth.roles().keySet())
                .build());
  }

  /**
   * A11. An unknown permission type grants nothing. It is rejected, after etcd's checks, from the
   * applied state, because the log has no form for it.
   */
  public CompletionStage<AuthRoleGrantPermissionResponse> roleGrantPermission(
      AuthRoleGrantPermissionRequest request, Call call) {
    if (request.hasPerm() && request.getPerm().getPermType() == Permission.Type.UNRECOGNIZED) {
      return rejectUnknownType(request, call);
    }
    return change(
        new Operation.RoleGrantPermission(
            request.getName(), request.hasPerm() ? permission(request.getPerm()) : null),
        call,
        header -> AuthRoleGrantPermissionResponse.newBuilder().setHeader(header).build());
  }

  private CompletionStage<AuthRoleGrantPermissionResponse> rejectUnknownType(
      AuthRoleGrantPermissionRequest request, Call call) {
    return read(
        call,
        Authorizer::root,
        auth -> {
          Permission given = request.getPerm();
          KeyRange range = range(given.getKey(), given.getRangeEnd());
          throw new RefusedException(
              AuthRules.mayBeGranted(range) && auth.role(request.getName()) == null
                  ? Refusal.ROLE_NOT_FOUND
                  : Refusal.INVALID_AUTH_MANAGEMENT);
        });
  }

  private static io.troupe.model.Permission permission(Permission given) {
    return new io.troupe.model.Permission(
        io.troupe.model.Permission.Type.ofCode(given.getPermTypeValue()),
        range(given.getKey(), given.getRangeEnd()));
  }

  /** A11. */
  public CompletionStage<AuthRoleRevokePermissionResponse> roleRevokePermission(
      AuthRoleRevokePermissionRequest request, Call call) {
    return change(
        new Operation.RoleRevokePermission(
            request.getRole(), range(request.getKey(), request.getRangeEnd())),
        call,
        header -> AuthRoleRevokePermissionResponse.newBuilder().setHeader(header).build());
  }

  private static KeyRange range(ByteString key, ByteString rangeEnd) {
    return new KeyRange(Bytes.wrap(key.toByteArray()), Bytes.wrap(rangeEnd.toByteArray()));
  }

  /** As linearizable as an entry of the log, but without an entry (docs/decisions/0072). */
  private <T> CompletionStage<T> read(
      Call call, CallerResolver.Check check, Function<AuthState, T> response) {
    return reads.linearizable(
        call.trace(),
        ReadIndexBatcher.Kind.POINT,
        () -> callers.read(call, check, () -> response.apply(member.state().auth())));
  }
}
