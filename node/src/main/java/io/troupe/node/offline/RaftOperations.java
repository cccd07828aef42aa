package io.troupe.node.offline;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.etcd.RaftRequest;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthRoleDeleteRequest;
import io.troupe.grpc.api.AuthRoleGrantPermissionRequest;
import io.troupe.grpc.api.AuthRoleRevokePermissionRequest;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserChangePasswordRequest;
import io.troupe.grpc.api.AuthUserDeleteRequest;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import io.troupe.grpc.api.AuthUserRevokeRoleRequest;
import io.troupe.grpc.api.LeaseCheckpointRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.lease.LeaseRules;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.model.Requester;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.RequestCodec;
import io.troupe.server.auth.Passwords;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Translates the requests in etcd's log to operations with the same effect. Pure.
 *
 * <p>etcd checks the rights of the user again when it applies a request, and so does the state
 * machine: an operation keeps its requester. Alarms are the exception: etcd checks their rights
 * only before it writes them to the log.
 */
final class RaftOperations {
  /** What etcd grants at least, with its default heartbeat and election timeout (L2). */
  private static final long MIN_TTL_SECONDS = LeaseRules.minTtlSeconds(10, 100);

  private RaftOperations() {}

  /** An operation and on whose behalf it is applied. */
  record Requested(Requester requester, Operation operation) {}

  /**
   * Translates a request.
   *
   * @return null if the request has no effect on the state: reads, logins, versions of the cluster,
   *     and what etcd refuses whatever the state is
   * @throws CommandException if the request cannot be translated; the message says why
   */
  static @Nullable Requested of(RaftRequest request) {
    try {
      Operation operation = operation(request);
      if (operation == null) {
        return null;
      }
      boolean checked =
          !(operation instanceof Operation.AlarmActivate
              || operation instanceof Operation.AlarmDeactivate);
      Requester requester =
          checked ? new Requester.User(request.user(), request.authRevision()) : Requester.MEMBER;
      return new Requested(requester, operation);
    } catch (RefusedException | IOException | IllegalArgumentException e) {
      throw new CommandException("malformed request: " + e.getMessage());
    }
  }

  /** The numbers are the fields of {@code etcdserverpb.InternalRaftRequest}. */
  private static @Nullable Operation operation(RaftRequest request) throws IOException {
    Bytes body = request.body();
    return switch (request.kind()) {
      case RaftRequest.NONE -> null;
      case RaftRequest.FIRST_API ->
          throw new CommandException(
              "the request \"" + body.utf8() + "\" of etcd's first API (v2) has no counterpart");
      case 4 -> RequestCodec.put(body);
      case 5 -> RequestCodec.deleteRange(body);
      case 6 -> RequestCodec.txn(body).txn();
      case 7 -> new Operation.Compact(RequestCodec.compact(body).revision());
      case 8 -> grant(LeaseGrantRequest.parseFrom(input(body)));
      case 9 -> new Operation.LeaseRevoke(LeaseRevokeRequest.parseFrom(input(body)).getID());
      case 10 -> alarm(AlarmRequest.parseFrom(input(body)));
      case 11 -> checkpoint(LeaseCheckpointRequest.parseFrom(input(body)));
      case RaftRequest.PUBLISH -> publish(request.published());
      // A range, logins and status; cluster version, downgrade, and etcd's own test of it.
      case 3, 1012, 1013, 1102, 1106, 1107, 1202, 1300, 1302, 9900 -> null;
      default -> auth(request.kind(), body);
    };
  }

  private static @Nullable Operation auth(int kind, Bytes body) throws IOException {
    return switch (kind) {
      case 1000 -> new Operation.AuthEnable();
      case 1011 -> new Operation.AuthDisable();
      case 1100 -> userAdd(AuthUserAddRequest.parseFrom(input(body)));
      case 1101 -> new Operation.UserDelete(AuthUserDeleteRequest.parseFrom(input(body)).getName());
      case 1103 -> password(AuthUserChangePasswordRequest.parseFrom(input(body)));
      case 1104 -> {
        AuthUserGrantRoleRequest grant = AuthUserGrantRoleRequest.parseFrom(input(body));
        yield new Operation.UserGrantRole(grant.getUser(), grant.getRole());
      }
      case 1105 -> {
        AuthUserRevokeRoleRequest revoke = AuthUserRevokeRoleRequest.parseFrom(input(body));
        yield new Operation.UserRevokeRole(revoke.getName(), revoke.getRole());
      }
      case 1200 -> new Operation.RoleAdd(AuthRoleAddRequest.parseFrom(input(body)).getName());
      case 1201 -> new Operation.RoleDelete(AuthRoleDeleteRequest.parseFrom(input(body)).getRole());
      case 1203 -> grantPermission(AuthRoleGrantPermissionRequest.parseFrom(input(body)));
      case 1204 -> {
        AuthRoleRevokePermissionRequest revoke =
            AuthRoleRevokePermissionRequest.parseFrom(input(body));
        yield new Operation.RoleRevokePermission(
            revoke.getRole(), range(revoke.getKey(), revoke.getRangeEnd()));
      }
      default ->
          throw new CommandException(
              "requests of kind " + kind + " (field of InternalRaftRequest) are unknown");
    };
  }

  private static ByteString input(Bytes body) {
    return ByteString.copyFrom(body.backingArray(), body.backingOffset(), body.length());
  }

  private static KeyRange range(ByteString key, ByteString end) {
    return new KeyRange(Bytes.wrap(key.toByteArray()), Bytes.wrap(end.toByteArray()));
  }

  private static @Nullable Operation grant(LeaseGrantRequest request) {
    if (request.getID() == 0 || LeaseRules.check(request.getTTL()) != null) {
      return null;
    }
    return new Operation.LeaseGrant(
        request.getID(), LeaseRules.effectiveTtlSeconds(request.getTTL(), MIN_TTL_SECONDS));
  }

  private static Operation checkpoint(LeaseCheckpointRequest request) {
    return new Operation.LeaseCheckpoint(
        request.getCheckpointsList().stream()
            .map(
                lease ->
                    new Operation.LeaseCheckpoint.Remaining(lease.getID(), lease.getRemainingTTL()))
            .toList());
  }

  private static @Nullable Operation alarm(AlarmRequest request) {
    NodeId member = new NodeId(request.getMemberID());
    AlarmType type = AlarmType.ofCode(request.getAlarmValue());
    return switch (request.getAction()) {
      case ACTIVATE -> type == AlarmType.NONE ? null : new Operation.AlarmActivate(member, type);
      case DEACTIVATE -> new Operation.AlarmDeactivate(member, type);
      case GET, UNRECOGNIZED -> null;
    };
  }

  private static @Nullable Operation publish(@Nullable MemberAttributes published) {
    return published == null
        ? null
        : new Operation.PublishMember(published.member(), published.name(), published.clientUrls());
  }

  private static @Nullable Operation userAdd(AuthUserAddRequest request)
      throws InvalidProtocolBufferException {
    boolean noPassword = request.getOptions().getNoPassword();
    if (noPassword) {
      return new Operation.UserAdd(request.getName(), "", true);
    }
    String hash = hash(request.getName(), request.getPassword(), request.getHashedPassword());
    return hash == null ? null : new Operation.UserAdd(request.getName(), hash, false);
  }

  private static @Nullable Operation password(AuthUserChangePasswordRequest request) {
    String hash = hash(request.getName(), request.getPassword(), request.getHashedPassword());
    return hash == null ? null : new Operation.UserChangePassword(request.getName(), hash);
  }

  /** The hash; null if etcd refuses the request because it is not base64. */
  private static @Nullable String hash(String user, String password, String hashed) {
    if (!password.isEmpty() && hashed.isEmpty()) {
      // Every member would choose another salt.
      throw new CommandException(
          "the password of user " + user + " is not hashed in the log, as with etcd 3.4");
    }
    try {
      return Passwords.decoded(hashed);
    } catch (IllegalArgumentException wrong) {
      return null;
    }
  }

  private static Operation grantPermission(AuthRoleGrantPermissionRequest request) {
    if (!request.hasPerm()) {
      return new Operation.RoleGrantPermission(request.getName(), null);
    }
    return new Operation.RoleGrantPermission(
        request.getName(),
        new Permission(
            Permission.Type.ofCode(request.getPerm().getPermTypeValue()),
            range(request.getPerm().getKey(), request.getPerm().getRangeEnd())));
  }
}
