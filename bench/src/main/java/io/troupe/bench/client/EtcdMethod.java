package io.troupe.bench.client;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;

/**
 * The methods that the load uses. Each constant defines whether the reply's bytes are kept or only
 * counted.
 */
public final class EtcdMethod {
  public static final EtcdMethod PUT = new EtcdMethod("KV", "Put", MethodType.UNARY, false);
  public static final EtcdMethod PUT_KEEP = new EtcdMethod("KV", "Put", MethodType.UNARY, true);
  public static final EtcdMethod RANGE = new EtcdMethod("KV", "Range", MethodType.UNARY, false);
  public static final EtcdMethod RANGE_KEEP = new EtcdMethod("KV", "Range", MethodType.UNARY, true);
  public static final EtcdMethod TXN = new EtcdMethod("KV", "Txn", MethodType.UNARY, false);
  public static final EtcdMethod TXN_KEEP = new EtcdMethod("KV", "Txn", MethodType.UNARY, true);
  public static final EtcdMethod DELETE_RANGE =
      new EtcdMethod("KV", "DeleteRange", MethodType.UNARY, false);
  public static final EtcdMethod COMPACT = new EtcdMethod("KV", "Compact", MethodType.UNARY, false);
  public static final EtcdMethod WATCH =
      new EtcdMethod("Watch", "Watch", MethodType.BIDI_STREAMING, true);
  public static final EtcdMethod LEASE_GRANT =
      new EtcdMethod("Lease", "LeaseGrant", MethodType.UNARY, true);
  public static final EtcdMethod LEASE_REVOKE =
      new EtcdMethod("Lease", "LeaseRevoke", MethodType.UNARY, false);
  public static final EtcdMethod LEASE_KEEP_ALIVE =
      new EtcdMethod("Lease", "LeaseKeepAlive", MethodType.BIDI_STREAMING, true);
  public static final EtcdMethod SNAPSHOT =
      new EtcdMethod("Maintenance", "Snapshot", MethodType.SERVER_STREAMING, false);
  public static final EtcdMethod SNAPSHOT_KEEP =
      new EtcdMethod("Maintenance", "Snapshot", MethodType.SERVER_STREAMING, true);
  public static final EtcdMethod STATUS =
      new EtcdMethod("Maintenance", "Status", MethodType.UNARY, true);
  public static final EtcdMethod MOVE_LEADER =
      new EtcdMethod("Maintenance", "MoveLeader", MethodType.UNARY, true);
  public static final EtcdMethod HASH_KV =
      new EtcdMethod("Maintenance", "HashKV", MethodType.UNARY, true);
  public static final EtcdMethod USER_ADD =
      new EtcdMethod("Auth", "UserAdd", MethodType.UNARY, false);
  public static final EtcdMethod USER_GRANT_ROLE =
      new EtcdMethod("Auth", "UserGrantRole", MethodType.UNARY, false);
  public static final EtcdMethod ROLE_ADD =
      new EtcdMethod("Auth", "RoleAdd", MethodType.UNARY, false);
  public static final EtcdMethod AUTH_ENABLE =
      new EtcdMethod("Auth", "AuthEnable", MethodType.UNARY, false);
  public static final EtcdMethod AUTHENTICATE =
      new EtcdMethod("Auth", "Authenticate", MethodType.UNARY, true);

  private final MethodDescriptor<byte[], Reply> descriptor;

  private EtcdMethod(String service, String method, MethodType type, boolean keepBody) {
    this.descriptor =
        MethodDescriptor.<byte[], Reply>newBuilder()
            .setType(type)
            .setFullMethodName("etcdserverpb." + service + "/" + method)
            .setRequestMarshaller(new RequestMarshaller())
            .setResponseMarshaller(new ReplyMarshaller(keepBody))
            .build();
  }

  /** The descriptor of the call for grpc-java. */
  public MethodDescriptor<byte[], Reply> descriptor() {
    return descriptor;
  }

  @Override
  public String toString() {
    return descriptor.getFullMethodName();
  }
}
