package io.troupe.edge.json;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Maps HTTP paths to gRPC methods (section 1.1). */
public final class JsonPaths {
  private static final String[][] TABLE = {
    {"etcdserverpb.KV", "Range", "kv/range"},
    {"etcdserverpb.KV", "Put", "kv/put"},
    {"etcdserverpb.KV", "DeleteRange", "kv/deleterange"},
    {"etcdserverpb.KV", "Txn", "kv/txn"},
    {"etcdserverpb.KV", "Compact", "kv/compaction"},
    {"etcdserverpb.Watch", "Watch", "watch"},
    {"etcdserverpb.Lease", "LeaseGrant", "lease/grant"},
    {"etcdserverpb.Lease", "LeaseRevoke", "lease/revoke"},
    {"etcdserverpb.Lease", "LeaseRevoke", "kv/lease/revoke"},
    {"etcdserverpb.Lease", "LeaseKeepAlive", "lease/keepalive"},
    {"etcdserverpb.Lease", "LeaseTimeToLive", "lease/timetolive"},
    {"etcdserverpb.Lease", "LeaseTimeToLive", "kv/lease/timetolive"},
    {"etcdserverpb.Lease", "LeaseLeases", "lease/leases"},
    {"etcdserverpb.Lease", "LeaseLeases", "kv/lease/leases"},
    {"etcdserverpb.Cluster", "MemberAdd", "cluster/member/add"},
    {"etcdserverpb.Cluster", "MemberRemove", "cluster/member/remove"},
    {"etcdserverpb.Cluster", "MemberUpdate", "cluster/member/update"},
    {"etcdserverpb.Cluster", "MemberList", "cluster/member/list"},
    {"etcdserverpb.Cluster", "MemberPromote", "cluster/member/promote"},
    {"etcdserverpb.Maintenance", "Alarm", "maintenance/alarm"},
    {"etcdserverpb.Maintenance", "Status", "maintenance/status"},
    {"etcdserverpb.Maintenance", "Defragment", "maintenance/defragment"},
    {"etcdserverpb.Maintenance", "Hash", "maintenance/hash"},
    {"etcdserverpb.Maintenance", "HashKV", "maintenance/hashkv"},
    {"etcdserverpb.Maintenance", "Snapshot", "maintenance/snapshot"},
    {"etcdserverpb.Maintenance", "MoveLeader", "maintenance/transfer-leadership"},
    {"etcdserverpb.Maintenance", "Downgrade", "maintenance/downgrade"},
    {"etcdserverpb.Auth", "AuthEnable", "auth/enable"},
    {"etcdserverpb.Auth", "AuthDisable", "auth/disable"},
    {"etcdserverpb.Auth", "AuthStatus", "auth/status"},
    {"etcdserverpb.Auth", "Authenticate", "auth/authenticate"},
    {"etcdserverpb.Auth", "UserAdd", "auth/user/add"},
    {"etcdserverpb.Auth", "UserGet", "auth/user/get"},
    {"etcdserverpb.Auth", "UserList", "auth/user/list"},
    {"etcdserverpb.Auth", "UserDelete", "auth/user/delete"},
    {"etcdserverpb.Auth", "UserChangePassword", "auth/user/changepw"},
    {"etcdserverpb.Auth", "UserGrantRole", "auth/user/grant"},
    {"etcdserverpb.Auth", "UserRevokeRole", "auth/user/revoke"},
    {"etcdserverpb.Auth", "RoleAdd", "auth/role/add"},
    {"etcdserverpb.Auth", "RoleGet", "auth/role/get"},
    {"etcdserverpb.Auth", "RoleList", "auth/role/list"},
    {"etcdserverpb.Auth", "RoleDelete", "auth/role/delete"},
    {"etcdserverpb.Auth", "RoleGrantPermission", "auth/role/grant"},
    {"etcdserverpb.Auth", "RoleRevokePermission", "auth/role/revoke"},
    {"v3electionpb.Election", "Campaign", "election/campaign"},
    {"v3electionpb.Election", "Proclaim", "election/proclaim"},
    {"v3electionpb.Election", "Leader", "election/leader"},
    {"v3electionpb.Election", "Observe", "election/observe"},
    {"v3electionpb.Election", "Resign", "election/resign"},
    {"v3lockpb.Lock", "Lock", "lock/lock"},
    {"v3lockpb.Lock", "Unlock", "lock/unlock"},
  };

  private static final Map<String, String> METHODS = methods();

  private JsonPaths() {}

  private static Map<String, String> methods() {
    Map<String, String> methods = new HashMap<>();
    for (String[] row : TABLE) {
      methods.put("/v3/" + row[2], "/" + row[0] + "/" + row[1]);
    }
    return Map.copyOf(methods);
  }

  /** The gRPC path of an HTTP path, or null if there is none. */
  public static @Nullable String method(String path) {
    return METHODS.get(path);
  }

  /** All HTTP paths. */
  public static Set<String> all() {
    return METHODS.keySet();
  }
}
