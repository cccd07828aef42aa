package io.troupe.etcd;

import com.google.protobuf.CodedOutputStream;
import io.troupe.model.AlarmMember;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.Lease;
import io.troupe.model.Permission;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * Protobuf messages that etcd stores (8.6). As in etcd, fields with their default value are
 * omitted.
 */
final class EtcdMessages {
  private EtcdMessages() {}

  /** Writes fields. */
  private interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  private static Bytes message(Fields fields) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      fields.write(out);
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Bytes.wrap(bytes.toByteArray());
  }

  /** {@code leasepb.Lease}. */
  static Bytes lease(Lease lease) {
    return message(
        out -> {
          number(out, 1, lease.id());
          number(out, 2, lease.ttlSeconds());
          number(out, 3, lease.checkpointSeconds());
        });
  }

  /** {@code etcdserverpb.AlarmMember}. */
  static Bytes alarm(AlarmMember alarm) {
    return message(
        out -> {
          number(out, 1, alarm.member().value());
          number(out, 2, alarm.type().code());
        });
  }

  /** {@code authpb.User}. */
  static Bytes user(AuthUser user) {
    return message(
        out -> {
          bytes(out, 1, Bytes.utf8(user.name()));
          bytes(out, 2, Bytes.utf8(user.passwordHash()));
          for (String role : user.roles()) {
            out.writeString(3, role);
          }
          out.writeByteArray(4, message(o -> number(o, 1, user.noPassword() ? 1 : 0)).toArray());
        });
  }

  /** {@code authpb.Role}. */
  static Bytes role(AuthRole role) {
    return message(
        out -> {
          bytes(out, 1, Bytes.utf8(role.name()));
          for (Permission permission : role.permissions()) {
            out.writeByteArray(2, permission(permission).toArray());
          }
        });
  }

  private static Bytes permission(Permission permission) {
    return message(
        out -> {
          number(out, 1, permission.type().code());
          bytes(out, 2, permission.range().key());
          bytes(out, 3, permission.range().rangeEnd());
        });
  }

  /** A number in 8 bytes, most significant first. */
  static Bytes bigEndian(long number) {
    return Bytes.wrap(ByteBuffer.allocate(Long.BYTES).putLong(number).array());
  }

  private static void number(CodedOutputStream out, int field, long value) throws IOException {
    if (value != 0) {
      out.writeUInt64(field, value);
    }
  }

  private static void bytes(CodedOutputStream out, int field, Bytes value) throws IOException {
    if (!value.isEmpty()) {
      out.writeByteArray(field, value.toArray());
    }
  }
}
