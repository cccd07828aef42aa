package io.troupe.protocol.codec;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.DecodedOperation;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.protocol.wire.WireAlarm;
import io.troupe.protocol.wire.WireLeaseCheckpoint;
import io.troupe.protocol.wire.WireLeaseGrant;
import io.troupe.protocol.wire.WireLeaseRemaining;
import io.troupe.protocol.wire.WireLeaseRevoke;
import io.troupe.protocol.wire.WireOperation;
import io.troupe.protocol.wire.WirePublishMember;
import java.io.IOException;
import java.util.List;

/**
 * Log record of an operation: one version byte, then a protobuf WireOperation
 * (docs/formats/operation.md). A client's request is embedded as the bytes that the client sent.
 *
 * <p>Version 2 is used for the requester, and for changes of users and roles. Version 3 is used for
 * checkpoints of leases, version 4 for the versions of the cluster. All other records keep version
 * 1, so that older logs are replayed in the same way.
 */
public final class OperationCodec {
  /** Version of records of clients without a user name. */
  public static final byte VERSION = 1;

  /** Field 1, fixed64: the first field of a {@link WireOperation} with an id. */
  private static final byte ID_TAG = (1 << 3) | 1;

  /** Version of records with a requester, and of changes of users or roles. */
  public static final byte VERSION_AUTH = 2;

  /** Version of lease checkpoints. */
  public static final byte VERSION_CHECKPOINT = 3;

  /** Version of changes of the versions of the cluster. */
  public static final byte VERSION_CLUSTER = 4;

  private OperationCodec() {}

  /**
   * Requests that are stored in the log as the client sent them. The numbers are fields of
   * WireOperation.
   */
  public enum ClientRequest {
    /** A PutRequest. */
    PUT(2),
    /** A DeleteRangeRequest. */
    DELETE_RANGE(3),
    /** A TxnRequest. */
    TXN(4),
    /** A CompactionRequest. */
    COMPACT(5);

    private final int field;

    ClientRequest(int field) {
      this.field = field;
    }
  }

  /**
   * Embeds a parsed and checked request.
   *
   * @param request the message's bytes
   */
  public static Bytes embed(RequestId id, Requester requester, ClientRequest kind, Bytes request) {
    byte[] behind = WireRequester.fields(requester);
    int length = request.length();
    byte[] out = new byte[1 + 9 + 1 + varintSize(length) + length + behind.length];
    out[0] = behind.length == 0 ? VERSION : VERSION_AUTH;
    putId(id, out);
    out[10] = (byte) ((kind.field << 3) | 2);
    int at = 11;
    int rest = length;
    while ((rest & ~0x7f) != 0) {
      out[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    out[at++] = (byte) rest;
    at = request.copyTo(out, at);
    System.arraycopy(behind, 0, out, at, behind.length);
    return Bytes.wrap(out);
  }

  /**
   * Returns the same operation with another id, for a new proposal of it: a late reply to the
   * earlier proposal is then not taken for a reply to this one.
   *
   * @param operation encoded by this class, with an id
   */
  public static Bytes withId(RequestId id, Bytes operation) {
    if (operation.length() < 10 || operation.at(1) != ID_TAG) {
      throw new IllegalArgumentException("operation without an id");
    }
    byte[] out = new byte[operation.length()];
    operation.copyTo(out, 0);
    putId(id, out);
    return Bytes.wrap(out);
  }

  private static void putId(RequestId id, byte[] out) {
    out[1] = ID_TAG;
    long value = id.value();
    for (int i = 0; i < 8; i++) {
      out[2 + i] = (byte) (value >>> (8 * i));
    }
  }

  private static int varintSize(int value) {
    int size = 1;
    for (int rest = value >>> 7; rest != 0; rest >>>= 7) {
      size++;
    }
    return size;
  }

  /**
   * Encodes an operation of the member itself.
   *
   * @throws IllegalArgumentException for an operation that only clients make: use {@link #embed}
   */
  public static Bytes encode(RequestId id, Operation operation) {
    return encode(id, Requester.MEMBER, operation);
  }

  /**
   * Encodes an operation that a member created, on its own behalf or a client's.
   *
   * @throws IllegalArgumentException for an operation that is a client's message: use {@link
   *     #embed}
   */
  public static Bytes encode(RequestId id, Requester requester, Operation operation) {
    WireOperation.Builder out = WireOperation.newBuilder().setRequestId(id.value());
    boolean named = !ofMembersAlone(operation) && WireRequester.set(requester, out);
    byte version = named || operation instanceof Operation.Auth ? VERSION_AUTH : VERSION;
    if (operation instanceof Operation.LeaseCheckpoint) {
      version = VERSION_CHECKPOINT;
    } else if (operation instanceof Operation.Versions) {
      version = VERSION_CLUSTER;
    }
    if (operation instanceof Operation.Auth auth) {
      AuthOperationCodec.set(auth, out);
    } else {
      set(operation, out);
    }
    return Bytes.wrap(new byte[] {version}).concat(Bytes.wrap(out.build().toByteArray()));
  }

  /** Only members can make these, so the record contains no requester. */
  private static boolean ofMembersAlone(Operation operation) {
    return operation instanceof Operation.PublishMember
        || operation instanceof Operation.LeaseCheckpoint;
  }

  private static void set(Operation operation, WireOperation.Builder out) {
    if (operation instanceof Operation.LeaseGrant grant) {
      out.setLeaseGrant(WireLeaseGrant.newBuilder().setId(grant.id()).setTtl(grant.ttlSeconds()));
    } else if (operation instanceof Operation.LeaseRevoke revoke) {
      out.setLeaseRevoke(WireLeaseRevoke.newBuilder().setId(revoke.id()));
    } else if (operation instanceof Operation.LeaseCheckpoint checkpoint) {
      WireLeaseCheckpoint.Builder leases = WireLeaseCheckpoint.newBuilder();
      for (Remaining lease : checkpoint.leases()) {
        leases.addLeases(
            WireLeaseRemaining.newBuilder().setId(lease.id()).setRemainingSeconds(lease.seconds()));
      }
      out.setLeaseCheckpoint(leases);
    } else if (operation instanceof Operation.AlarmGet get) {
      out.setAlarm(WireAlarm.newBuilder().setAction(0).setType(get.type().code()));
    } else if (operation instanceof Operation.AlarmActivate activate) {
      out.setAlarm(alarm(1, activate.member(), activate.type()));
    } else if (operation instanceof Operation.AlarmDeactivate deactivate) {
      out.setAlarm(alarm(2, deactivate.member(), deactivate.type()));
    } else if (operation instanceof Operation.PublishMember publish) {
      out.setPublishMember(
          WirePublishMember.newBuilder()
              .setMember(publish.member().value())
              .setName(publish.name())
              .addAllClientUrls(publish.clientUrls()));
    } else if (operation instanceof Operation.Versions change) {
      VersionOperationCodec.set(change, out);
    } else {
      throw new IllegalArgumentException(
          "operation must be embedded as the client's request: " + operation);
    }
  }

  private static WireAlarm.Builder alarm(int action, NodeId member, AlarmType type) {
    return WireAlarm.newBuilder().setAction(action).setMember(member.value()).setType(type.code());
  }

  /**
   * Decodes an entry's data. Keys and values of puts share its array: who keeps one of them longer
   * than the entry copies it.
   *
   * @throws IllegalStateException if it cannot be decoded: it was checked before it was proposed,
   *     so the log is damaged or newer than this program
   */
  public static DecodedOperation decode(Bytes data) {
    if (data.isEmpty() || data.at(0) < VERSION || data.at(0) > VERSION_CLUSTER) {
      throw new IllegalStateException(
          "operation of unknown format version " + (data.isEmpty() ? "(empty)" : data.at(0)));
    }
    try {
      WireOperation wire = WireOperation.parseFrom(input(data.slice(1)));
      return new DecodedOperation(
          new RequestId(wire.getRequestId()), WireRequester.of(wire), operation(wire));
    } catch (IOException | IllegalArgumentException e) {
      throw new IllegalStateException("operation cannot be decoded: " + e.getMessage(), e);
    }
  }

  private static Operation operation(WireOperation wire) throws InvalidProtocolBufferException {
    return switch (wire.getBodyCase()) {
      case PUT -> RequestCodec.put(wire.getPut());
      case DELETE_RANGE -> RequestCodec.deleteRange(wire.getDeleteRange());
      case TXN -> RequestCodec.txn(wire.getTxn());
      case COMPACT -> new Operation.Compact(wire.getCompact().getRevision());
      case LEASE_GRANT ->
          new Operation.LeaseGrant(wire.getLeaseGrant().getId(), wire.getLeaseGrant().getTtl());
      case LEASE_REVOKE -> new Operation.LeaseRevoke(wire.getLeaseRevoke().getId());
      case LEASE_REMAINING -> checkpoint(List.of(wire.getLeaseRemaining()));
      case LEASE_CHECKPOINT -> checkpoint(wire.getLeaseCheckpoint().getLeasesList());
      case ALARM -> alarm(wire.getAlarm());
      case PUBLISH_MEMBER ->
          new Operation.PublishMember(
              new NodeId(wire.getPublishMember().getMember()),
              wire.getPublishMember().getName(),
              wire.getPublishMember().getClientUrlsList());
      case AUTH_SWITCH,
          AUTHENTICATE,
          USER_ADD,
          USER_DELETE,
          USER_CHANGE_PASSWORD,
          USER_ROLE,
          ROLE,
          ROLE_PERMISSION ->
          AuthOperationCodec.of(wire);
      case CLUSTER_VERSION, DOWNGRADE -> VersionOperationCodec.of(wire);
      case BODY_NOT_SET -> throw new InvalidProtocolBufferException("no body");
    };
  }

  private static Operation checkpoint(List<WireLeaseRemaining> leases) {
    return new Operation.LeaseCheckpoint(
        leases.stream()
            .map(lease -> new Remaining(lease.getId(), lease.getRemainingSeconds()))
            .toList());
  }

  private static Operation alarm(WireAlarm alarm) throws InvalidProtocolBufferException {
    AlarmType type = AlarmType.ofCode(alarm.getType());
    NodeId member = new NodeId(alarm.getMember());
    return switch (alarm.getAction()) {
      case 0 -> new Operation.AlarmGet(type);
      case 1 -> new Operation.AlarmActivate(member, type);
      case 2 -> new Operation.AlarmDeactivate(member, type);
      default -> throw new InvalidProtocolBufferException("alarm action " + alarm.getAction());
    };
  }

  /** A parser input over the bytes; byte fields of the parsed message share their array. */
  static CodedInputStream input(Bytes data) {
    CodedInputStream in = RaftMessageCodec.view(data).newCodedInput();
    in.enableAliasing(true);
    return in;
  }

  /** A copy of a field, for what outlives the message. */
  static Bytes bytes(ByteString field) {
    return Bytes.wrap(field.toByteArray());
  }
}
