package io.troupe.protocol.codec;

import static io.troupe.protocol.codec.OperationCodec.bytes;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.protocol.wire.WireAuthSwitch;
import io.troupe.protocol.wire.WireAuthenticate;
import io.troupe.protocol.wire.WireOperation;
import io.troupe.protocol.wire.WireRole;
import io.troupe.protocol.wire.WireRolePermission;
import io.troupe.protocol.wire.WireUserAdd;
import io.troupe.protocol.wire.WireUserChangePassword;
import io.troupe.protocol.wire.WireUserDelete;
import io.troupe.protocol.wire.WireUserRole;

/** Changes of users and roles in log records. */
final class AuthOperationCodec {
  private AuthOperationCodec() {}

  static void set(Operation.Auth operation, WireOperation.Builder out) {
    if (operation instanceof Operation.AuthEnable) {
      out.setAuthSwitch(WireAuthSwitch.newBuilder().setOn(true));
    } else if (operation instanceof Operation.AuthDisable) {
      out.setAuthSwitch(WireAuthSwitch.newBuilder());
    } else if (operation instanceof Operation.Authenticate authenticate) {
      out.setAuthenticate(
          WireAuthenticate.newBuilder()
              .setUser(authenticate.user())
              .setTokenPrefix(authenticate.tokenPrefix())
              .setAuthRevision(authenticate.authRevision()));
    } else if (operation instanceof Operation.UserAdd add) {
      out.setUserAdd(
          WireUserAdd.newBuilder()
              .setUser(add.user())
              .setPasswordHash(add.passwordHash())
              .setNoPassword(add.noPassword()));
    } else if (operation instanceof Operation.UserDelete delete) {
      out.setUserDelete(WireUserDelete.newBuilder().setUser(delete.user()));
    } else if (operation instanceof Operation.UserChangePassword change) {
      out.setUserChangePassword(
          WireUserChangePassword.newBuilder()
              .setUser(change.user())
              .setPasswordHash(change.passwordHash()));
    } else if (operation instanceof Operation.UserGrantRole grant) {
      out.setUserRole(WireUserRole.newBuilder().setUser(grant.user()).setRole(grant.role()));
    } else if (operation instanceof Operation.UserRevokeRole revoke) {
      out.setUserRole(
          WireUserRole.newBuilder().setUser(revoke.user()).setRole(revoke.role()).setRevoke(true));
    } else if (operation instanceof Operation.RoleAdd add) {
      out.setRole(WireRole.newBuilder().setRole(add.role()));
    } else if (operation instanceof Operation.RoleDelete delete) {
      out.setRole(WireRole.newBuilder().setRole(delete.role()).setDelete(true));
    } else if (operation instanceof Operation.RoleGrantPermission grant) {
      out.setRolePermission(granted(grant));
    } else if (operation instanceof Operation.RoleRevokePermission revoke) {
      out.setRolePermission(
          WireRolePermission.newBuilder()
              .setRole(revoke.role())
              .setRevoke(true)
              .setKey(byteString(revoke.range().key()))
              .setRangeEnd(byteString(revoke.range().rangeEnd())));
    } else {
      throw new IllegalArgumentException("no encoding for " + operation.getClass());
    }
  }

  private static WireRolePermission.Builder granted(Operation.RoleGrantPermission grant) {
    WireRolePermission.Builder out = WireRolePermission.newBuilder().setRole(grant.role());
    Permission permission = grant.permission();
    return permission == null
        ? out.setMissing(true)
        : out.setType(permission.type().code())
            .setKey(byteString(permission.range().key()))
            .setRangeEnd(byteString(permission.range().rangeEnd()));
  }

  static Operation of(WireOperation wire) throws InvalidProtocolBufferException {
    return switch (wire.getBodyCase()) {
      case AUTH_SWITCH ->
          wire.getAuthSwitch().getOn() ? new Operation.AuthEnable() : new Operation.AuthDisable();
      case AUTHENTICATE ->
          new Operation.Authenticate(
              wire.getAuthenticate().getUser(),
              wire.getAuthenticate().getTokenPrefix(),
              wire.getAuthenticate().getAuthRevision());
      case USER_ADD ->
          new Operation.UserAdd(
              wire.getUserAdd().getUser(),
              wire.getUserAdd().getPasswordHash(),
              wire.getUserAdd().getNoPassword());
      case USER_DELETE -> new Operation.UserDelete(wire.getUserDelete().getUser());
      case USER_CHANGE_PASSWORD ->
          new Operation.UserChangePassword(
              wire.getUserChangePassword().getUser(),
              wire.getUserChangePassword().getPasswordHash());
      case USER_ROLE -> userRole(wire.getUserRole());
      case ROLE ->
          wire.getRole().getDelete()
              ? new Operation.RoleDelete(wire.getRole().getRole())
              : new Operation.RoleAdd(wire.getRole().getRole());
      case ROLE_PERMISSION -> permission(wire.getRolePermission());
      default -> throw new InvalidProtocolBufferException("body is not a change of users or roles");
    };
  }

  private static Operation userRole(WireUserRole wire) {
    return wire.getRevoke()
        ? new Operation.UserRevokeRole(wire.getUser(), wire.getRole())
        : new Operation.UserGrantRole(wire.getUser(), wire.getRole());
  }

  private static Operation permission(WireRolePermission wire) {
    KeyRange range = new KeyRange(bytes(wire.getKey()), bytes(wire.getRangeEnd()));
    if (wire.getRevoke()) {
      return new Operation.RoleRevokePermission(wire.getRole(), range);
    }
    return new Operation.RoleGrantPermission(
        wire.getRole(),
        wire.getMissing() ? null : new Permission(Permission.Type.ofCode(wire.getType()), range));
  }

  private static ByteString byteString(Bytes bytes) {
    return ByteString.copyFrom(bytes.backingArray(), bytes.backingOffset(), bytes.length());
  }
}
