package io.troupe.ctl.print;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.KeyRanges;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.AuthRoleAddResponse;
import io.troupe.grpc.api.AuthRoleDeleteResponse;
import io.troupe.grpc.api.AuthRoleGetResponse;
import io.troupe.grpc.api.AuthRoleGrantPermissionResponse;
import io.troupe.grpc.api.AuthRoleListResponse;
import io.troupe.grpc.api.AuthRoleRevokePermissionResponse;
import io.troupe.grpc.api.AuthStatusResponse;
import io.troupe.grpc.api.AuthUserAddResponse;
import io.troupe.grpc.api.AuthUserChangePasswordResponse;
import io.troupe.grpc.api.AuthUserDeleteResponse;
import io.troupe.grpc.api.AuthUserGetResponse;
import io.troupe.grpc.api.AuthUserGrantRoleResponse;
import io.troupe.grpc.api.AuthUserListResponse;
import io.troupe.grpc.api.AuthUserRevokeRoleResponse;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.DowngradeResponse;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesResponse;
import io.troupe.grpc.api.LeaseRevokeResponse;
import io.troupe.grpc.api.LeaseTimeToLiveResponse;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.MemberPromoteResponse;
import io.troupe.grpc.api.MemberRemoveResponse;
import io.troupe.grpc.api.MemberUpdateResponse;
import io.troupe.grpc.api.MoveLeaderResponse;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.ResponseOp;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.auth.Permission;
import io.troupe.grpc.api.backup.BackupResponse;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;

/** Text for people: see each method for its lines. */
public final class SimplePrinter implements Printer {

  private final Console console;
  private final boolean hex;
  private final boolean valuesOnly;

  SimplePrinter(Console console, boolean hex, boolean valuesOnly) {
    this.console = console;
    this.hex = hex;
    this.valuesOnly = valuesOnly;
  }

  /** The same printer, which omits the keys. */
  public SimplePrinter valuesOnly() {
    return new SimplePrinter(console, hex, true);
  }

  @Override
  public void other(Message response) {
    throw new IllegalStateException("no form for " + response.getClass().getSimpleName());
  }

  @Override
  public void refuse() {
    throw new IllegalStateException("the simple mode has a form for each response");
  }

  private void pair(KeyValue pair) {
    if (!valuesOnly) {
      console.line(shown(pair.getKey()));
    }
    console.line(shown(pair.getValue()));
  }

  private ByteString shown(ByteString bytes) {
    return hex
        ? ByteString.copyFromUtf8(
            bytes.isEmpty() ? "" : HexFormat.of().withPrefix("\\x").formatHex(bytes.toByteArray()))
        : bytes;
  }

  @Override
  public void range(RangeResponse r) {
    r.getKvsList().forEach(this::pair);
  }

  @Override
  public void put(PutResponse r) {
    console.line("OK");
    if (r.hasPrevKv()) {
      pair(r.getPrevKv());
    }
  }

  @Override
  public void delete(DeleteRangeResponse r) {
    console.line(Long.toString(r.getDeleted()));
    r.getPrevKvsList().forEach(this::pair);
  }

  @Override
  public void txn(TxnResponse r) {
    console.line(r.getSucceeded() ? "SUCCESS" : "FAILURE");
    for (ResponseOp op : r.getResponsesList()) {
      console.line("");
      switch (op.getResponseCase()) {
        case RESPONSE_RANGE -> range(op.getResponseRange());
        case RESPONSE_PUT -> put(op.getResponsePut());
        case RESPONSE_DELETE_RANGE -> delete(op.getResponseDeleteRange());
        default -> console.line("unexpected response " + op);
      }
    }
  }

  @Override
  public void watch(WatchResponse r) {
    for (Event event : r.getEventsList()) {
      console.line(event.getType().name());
      if (event.hasPrevKv()) {
        pair(event.getPrevKv());
      }
      pair(event.getKv());
    }
  }

  @Override
  public void grant(LeaseGrantResponse r) {
    console.line("lease " + Integers.lease(r.getID()) + " granted with TTL(" + r.getTTL() + "s)");
  }

  @Override
  public void revoke(long id, LeaseRevokeResponse r) {
    console.line("lease " + Integers.lease(id) + " revoked");
  }

  @Override
  public void keepAlive(LeaseKeepAliveResponse r) {
    console.line("lease " + Integers.lease(r.getID()) + " keepalived with TTL(" + r.getTTL() + ")");
  }

  @Override
  public void timeToLive(LeaseTimeToLiveResponse r, boolean keys) {
    String lease = "lease " + Integers.lease(r.getID());
    if (r.getGrantedTTL() == 0 && r.getTTL() == -1) {
      console.line(lease + " already expired");
      return;
    }
    ByteString line =
        ByteString.copyFromUtf8(
            lease
                + " granted with TTL("
                + r.getGrantedTTL()
                + "s), remaining("
                + r.getTTL()
                + "s)");
    if (keys) {
      line = line.concat(ByteString.copyFromUtf8(", attached keys(["));
      String separator = "";
      for (ByteString key : r.getKeysList()) {
        line = line.concat(ByteString.copyFromUtf8(separator)).concat(key);
        separator = " ";
      }
      line = line.concat(ByteString.copyFromUtf8("])"));
    }
    console.line(line);
  }

  @Override
  public void leases(LeaseLeasesResponse r) {
    console.line("found " + r.getLeasesCount() + " leases");
    r.getLeasesList().forEach(lease -> console.line(Integers.lease(lease.getID())));
  }

  @Override
  public void alarm(AlarmResponse r) {
    for (AlarmMember alarm : r.getAlarmsList()) {
      String member =
          alarm.getMemberID() == 0
              ? ""
              : "memberID:" + Long.toUnsignedString(alarm.getMemberID()) + " ";
      console.line(member + "alarm:" + alarm.getAlarm());
    }
  }

  @Override
  public void backup(BackupResponse r) {
    console.line(
        "Backup "
            + r.getId()
            + " written to "
            + r.getTarget()
            + ": revision "
            + r.getRevision()
            + ", "
            + r.getBytes()
            + " bytes, "
            + Instant.ofEpochMilli(r.getTime()));
  }

  /** An ID of 16 columns, filled with spaces. */
  private static String wide(long id) {
    String text = Integers.hex(id);
    return " ".repeat(16 - text.length()) + text;
  }

  private void member(String what, long id, ResponseHeader header) {
    console.line("Member " + wide(id) + what + wide(header.getClusterId()));
  }

  @Override
  public void memberAdd(MemberAddResponse r) {
    String role =
        r.getMember().getIsLearner() ? " added as learner to cluster " : " added to cluster ";
    member(role, r.getMember().getID(), r.getHeader());
  }

  @Override
  public void memberRemove(long id, MemberRemoveResponse r) {
    member(" removed from cluster ", id, r.getHeader());
  }

  @Override
  public void memberUpdate(long id, MemberUpdateResponse r) {
    member(" updated in cluster ", id, r.getHeader());
  }

  @Override
  public void memberPromote(long id, MemberPromoteResponse r) {
    member(" promoted in cluster ", id, r.getHeader());
  }

  private void rows(List<List<String>> rows) {
    rows.forEach(row -> console.line(String.join(", ", row)));
  }

  @Override
  public void memberList(MemberListResponse r) {
    rows(Tables.members(r));
  }

  @Override
  public void endpointHealth(List<EndpointHealth> endpoints) {
    for (EndpointHealth each : endpoints) {
      if (each.error().isEmpty()) {
        console.line(
            each.endpoint()
                + " is healthy: successfully committed proposal: took = "
                + each.took());
      } else {
        console.error(
            each.endpoint() + " is unhealthy: failed to commit proposal: " + each.error());
      }
    }
  }

  @Override
  public void endpointStatus(List<EndpointStatus> endpoints) {
    rows(Tables.statuses(endpoints));
  }

  @Override
  public void endpointHash(List<EndpointHash> endpoints) {
    rows(Tables.hashes(endpoints));
  }

  @Override
  public void moveLeader(long from, long to, MoveLeaderResponse r) {
    console.line("Leadership transferred from " + Integers.hex(from) + " to " + Integers.hex(to));
  }

  @Override
  public void downgrade(String action, DowngradeResponse r) {
    console.line("Downgrade " + action + " success, cluster version " + r.getVersion());
  }

  @Override
  public void roleAdd(String role, AuthRoleAddResponse r) {
    console.line("Role " + role + " created");
  }

  @Override
  public void roleGet(String role, AuthRoleGetResponse r) {
    console.line("Role " + role);
    boolean all = role.equals("root") && r.getPermCount() == 0;
    for (Permission.Type type : List.of(Permission.Type.READ, Permission.Type.WRITE)) {
      console.line(type == Permission.Type.READ ? "KV Read:" : "KV Write:");
      if (all) {
        console.line("\t[, <open ended>");
      }
      for (Permission permission : r.getPermList()) {
        if (permission.getPermType() == type
            || permission.getPermType() == Permission.Type.READWRITE) {
          console.line(range(permission));
        }
      }
    }
  }

  private static ByteString range(Permission permission) {
    ByteString key = permission.getKey();
    ByteString end = permission.getRangeEnd();
    ByteString tab = ByteString.copyFromUtf8("\t");
    if (end.isEmpty()) {
      return tab.concat(key);
    }
    ByteString start = tab.concat(ByteString.copyFromUtf8("[")).concat(key);
    ByteString text =
        end.equals(KeyRanges.OPEN)
            ? start.concat(ByteString.copyFromUtf8(", <open ended>"))
            : start
                .concat(ByteString.copyFromUtf8(", "))
                .concat(end)
                .concat(ByteString.copyFromUtf8(")"));
    boolean prefix = !key.isEmpty() && KeyRanges.prefixEnd(key).equals(end);
    return prefix
        ? text.concat(ByteString.copyFromUtf8(" (prefix "))
            .concat(key)
            .concat(ByteString.copyFromUtf8(")"))
        : text;
  }

  @Override
  public void roleList(AuthRoleListResponse r) {
    r.getRolesList().forEach(console::line);
  }

  @Override
  public void roleDelete(String role, AuthRoleDeleteResponse r) {
    console.line("Role " + role + " deleted");
  }

  @Override
  public void roleGrant(String role, AuthRoleGrantPermissionResponse r) {
    console.line("Role " + role + " updated");
  }

  @Override
  public void roleRevoke(String role, String key, String end, AuthRoleRevokePermissionResponse r) {
    String what =
        end.isEmpty()
            ? "key " + key
            : "range [" + key + (end.equals("\0") ? ", <open ended>" : ", " + end + ")");
    console.line("Permission of " + what + " is revoked from role " + role);
  }

  @Override
  public void userAdd(String user, AuthUserAddResponse r) {
    console.line("User " + user + " created");
  }

  @Override
  public void userGet(String user, AuthUserGetResponse r) {
    console.line("User: " + user);
    StringBuilder roles = new StringBuilder("Roles:");
    r.getRolesList().forEach(role -> roles.append(' ').append(role));
    console.line(roles.toString());
  }

  @Override
  public void userList(AuthUserListResponse r) {
    r.getUsersList().forEach(console::line);
  }

  @Override
  public void userPassword(AuthUserChangePasswordResponse r) {
    console.line("Password updated");
  }

  @Override
  public void userGrant(String user, String role, AuthUserGrantRoleResponse r) {
    console.line("Role " + role + " is granted to user " + user);
  }

  @Override
  public void userRevoke(String user, String role, AuthUserRevokeRoleResponse r) {
    console.line("Role " + role + " is revoked from user " + user);
  }

  @Override
  public void userDelete(String user, AuthUserDeleteResponse r) {
    console.line("User " + user + " deleted");
  }

  @Override
  public void authStatus(AuthStatusResponse r) {
    console.line("Authentication Status: " + r.getEnabled());
    console.line("AuthRevision: " + Long.toUnsignedString(r.getAuthRevision()));
  }
}
