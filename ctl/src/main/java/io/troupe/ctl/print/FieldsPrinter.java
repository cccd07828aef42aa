package io.troupe.ctl.print;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.Quoted;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.AuthRoleAddResponse;
import io.troupe.grpc.api.AuthRoleDeleteResponse;
import io.troupe.grpc.api.AuthRoleGetResponse;
import io.troupe.grpc.api.AuthRoleGrantPermissionResponse;
import io.troupe.grpc.api.AuthRoleListResponse;
import io.troupe.grpc.api.AuthRoleRevokePermissionResponse;
import io.troupe.grpc.api.AuthUserAddResponse;
import io.troupe.grpc.api.AuthUserChangePasswordResponse;
import io.troupe.grpc.api.AuthUserDeleteResponse;
import io.troupe.grpc.api.AuthUserGrantRoleResponse;
import io.troupe.grpc.api.AuthUserRevokeRoleResponse;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.HashKVResponse;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesResponse;
import io.troupe.grpc.api.LeaseRevokeResponse;
import io.troupe.grpc.api.LeaseTimeToLiveResponse;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.ResponseOp;
import io.troupe.grpc.api.StatusResponse;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.auth.Permission;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.util.List;

/** One line for each field: {@code "Key" : "value"}. */
final class FieldsPrinter implements Printer {
  private final Console console;
  private final boolean hex;

  FieldsPrinter(Console console, boolean hex) {
    this.console = console;
    this.hex = hex;
  }

  @Override
  public void other(Message response) {
    refuse();
  }

  @Override
  public void refuse() {
    throw new CtlException(ExitCode.BAD_FEATURE, "fields not supported as output format");
  }

  private void field(String name, Object value) {
    console.line("\"" + name + "\" : " + value);
  }

  private void text(String name, String value) {
    field(name, Quoted.quote(value));
  }

  private void bytes(String name, ByteString value) {
    field(name, Quoted.quote(value));
  }

  /** An unsigned ID: decimal, or hexadecimal without leading zeros. */
  private void id(String name, long value) {
    field(name, hex ? Integers.hex(value) : Long.toUnsignedString(value));
  }

  private void lease(String name, long value) {
    field(name, hex ? Integers.lease(value) : Long.toString(value));
  }

  private void header(ResponseHeader header) {
    id("ClusterID", header.getClusterId());
    id("MemberID", header.getMemberId());
    if (header.getRevision() > 0) {
      field("Revision", header.getRevision());
    }
    field("RaftTerm", Long.toUnsignedString(header.getRaftTerm()));
  }

  /** For responses that have a header only, or whose other fields are not printed. */
  private void headerOf(Message response) {
    FieldDescriptor field = response.getDescriptorForType().findFieldByName("header");
    header((ResponseHeader) response.getField(field));
  }

  private void pair(String prefix, KeyValue pair) {
    bytes(prefix + "Key", pair.getKey());
    field(prefix + "CreateRevision", pair.getCreateRevision());
    field(prefix + "ModRevision", pair.getModRevision());
    field(prefix + "Version", pair.getVersion());
    bytes(prefix + "Value", pair.getValue());
    lease(prefix + "Lease", pair.getLease());
  }

  @Override
  public void range(RangeResponse r) {
    header(r.getHeader());
    r.getKvsList().forEach(pair -> pair("", pair));
    field("More", r.getMore());
    field("Count", r.getCount());
  }

  @Override
  public void put(PutResponse r) {
    header(r.getHeader());
    if (r.hasPrevKv()) {
      pair("Prev", r.getPrevKv());
    }
  }

  @Override
  public void delete(DeleteRangeResponse r) {
    header(r.getHeader());
    field("Deleted", r.getDeleted());
    r.getPrevKvsList().forEach(pair -> pair("Prev", pair));
  }

  @Override
  public void txn(TxnResponse r) {
    header(r.getHeader());
    field("Succeeded", r.getSucceeded());
    for (ResponseOp op : r.getResponsesList()) {
      switch (op.getResponseCase()) {
        case RESPONSE_RANGE -> range(op.getResponseRange());
        case RESPONSE_PUT -> put(op.getResponsePut());
        case RESPONSE_DELETE_RANGE -> delete(op.getResponseDeleteRange());
        default -> text("Unknown", op.toString());
      }
    }
  }

  @Override
  public void watch(WatchResponse r) {
    header(r.getHeader());
    for (Event event : r.getEventsList()) {
      field("Type", event.getType());
      if (event.hasPrevKv()) {
        pair("Prev", event.getPrevKv());
      }
      pair("", event.getKv());
    }
  }

  @Override
  public void grant(LeaseGrantResponse r) {
    header(r.getHeader());
    lease("ID", r.getID());
    field("TTL", r.getTTL());
  }

  @Override
  public void revoke(long id, LeaseRevokeResponse r) {
    header(r.getHeader());
  }

  @Override
  public void keepAlive(LeaseKeepAliveResponse r) {
    header(r.getHeader());
    lease("ID", r.getID());
    field("TTL", r.getTTL());
  }

  @Override
  public void timeToLive(LeaseTimeToLiveResponse r, boolean keys) {
    header(r.getHeader());
    lease("ID", r.getID());
    field("TTL", r.getTTL());
    field("GrantedTTL", r.getGrantedTTL());
    r.getKeysList().forEach(key -> bytes("Key", key));
  }

  @Override
  public void leases(LeaseLeasesResponse r) {
    header(r.getHeader());
    r.getLeasesList().forEach(lease -> lease("ID", lease.getID()));
  }

  @Override
  public void memberList(MemberListResponse r) {
    header(r.getHeader());
    for (Member member : r.getMembersList()) {
      id("ID", member.getID());
      text("Name", member.getName());
      member.getPeerURLsList().forEach(url -> text("PeerURL", url));
      member.getClientURLsList().forEach(url -> text("ClientURL", url));
      field("IsLearner", member.getIsLearner());
      console.line("");
    }
  }

  @Override
  public void endpointHealth(List<EndpointHealth> endpoints) {
    for (EndpointHealth each : endpoints) {
      text("Endpoint", each.endpoint());
      field("Health", each.healthy());
      field("Took", each.took());
      field("Error", each.error());
      console.line("");
    }
  }

  @Override
  public void endpointStatus(List<EndpointStatus> endpoints) {
    for (EndpointStatus each : endpoints) {
      StatusResponse r = each.status();
      header(r.getHeader());
      text("Version", r.getVersion());
      text("StorageVersion", r.getStorageVersion());
      field("DBSize", r.getDbSize());
      field("DBSizeInUse", r.getDbSizeInUse());
      field("DBSizeQuota", r.getDbSizeQuota());
      field("Leader", Long.toUnsignedString(r.getLeader()));
      field("IsLearner", r.getIsLearner());
      field("RaftIndex", Long.toUnsignedString(r.getRaftIndex()));
      field("RaftTerm", Long.toUnsignedString(r.getRaftTerm()));
      field("RaftAppliedIndex", Long.toUnsignedString(r.getRaftAppliedIndex()));
      field("Errors", "[" + String.join(" ", r.getErrorsList()) + "]");
      text("Endpoint", each.endpoint());
      text("DowngradeTargetVersion", r.getDowngradeInfo().getTargetVersion());
      field("DowngradeEnabled", r.getDowngradeInfo().getEnabled());
      console.line("");
    }
  }

  @Override
  public void endpointHash(List<EndpointHash> endpoints) {
    for (EndpointHash each : endpoints) {
      HashKVResponse r = each.hash();
      header(r.getHeader());
      text("Endpoint", each.endpoint());
      field("Hash", Integer.toUnsignedString(r.getHash()));
      field("HashRevision", r.getHashRevision());
      console.line("");
    }
  }

  @Override
  public void alarm(AlarmResponse r) {
    header(r.getHeader());
    for (AlarmMember alarm : r.getAlarmsList()) {
      id("MemberID", alarm.getMemberID());
      field("AlarmType", alarm.getAlarm());
      console.line("");
    }
  }

  @Override
  public void roleGet(String role, AuthRoleGetResponse r) {
    header(r.getHeader());
    for (Permission permission : r.getPermList()) {
      // etcdctl prints two spaces here.
      field("PermType", " " + permission.getPermType());
      bytes("Key", permission.getKey());
      bytes("RangeEnd", permission.getRangeEnd());
    }
  }

  @Override
  public void roleList(AuthRoleListResponse r) {
    header(r.getHeader());
    StringBuilder roles = new StringBuilder("\"Roles\" :");
    r.getRolesList().forEach(role -> roles.append(' ').append(Quoted.quote(role)));
    console.line(roles.toString());
  }

  @Override
  public void roleAdd(String role, AuthRoleAddResponse r) {
    headerOf(r);
  }

  @Override
  public void roleDelete(String role, AuthRoleDeleteResponse r) {
    headerOf(r);
  }

  @Override
  public void roleGrant(String role, AuthRoleGrantPermissionResponse r) {
    headerOf(r);
  }

  @Override
  public void roleRevoke(String role, String key, String end, AuthRoleRevokePermissionResponse r) {
    headerOf(r);
  }

  @Override
  public void userAdd(String user, AuthUserAddResponse r) {
    headerOf(r);
  }

  @Override
  public void userPassword(AuthUserChangePasswordResponse r) {
    headerOf(r);
  }

  @Override
  public void userGrant(String user, String role, AuthUserGrantRoleResponse r) {
    headerOf(r);
  }

  @Override
  public void userRevoke(String user, String role, AuthUserRevokeRoleResponse r) {
    headerOf(r);
  }

  @Override
  public void userDelete(String user, AuthUserDeleteResponse r) {
    headerOf(r);
  }
}
