package io.troupe.etcd;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Permission;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the messages of {@link EtcdMessages}. Fields that newer versions of etcd may add are
 * skipped.
 */
final class EtcdMessageReader {
  private EtcdMessageReader() {}

  /** Reads one field, whose tag was read. */
  interface Field {
    /** Returns false for an unknown field, which is skipped. */
    boolean read(int number, CodedInputStream in) throws IOException;
  }

  /**
   * Passes each field to {@code field}.
   *
   * @throws DamagedDatabaseException if the message is malformed
   */
  static void read(String what, Bytes message, Field field) {
    CodedInputStream in =
        CodedInputStream.newInstance(
            message.backingArray(), message.backingOffset(), message.length());
    try {
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        if (!field.read(tag >>> 3, in)) {
          in.skipField(tag);
        }
      }
    } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
      throw malformed(what, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new IllegalStateException("reading from memory", e);
    }
  }

  static DamagedDatabaseException malformed(String what, String why) {
    return new DamagedDatabaseException("malformed " + what + ": " + why);
  }

  /** {@code leasepb.Lease}. */
  static Lease lease(Bytes message) {
    long[] fields = new long[4];
    read(
        "lease",
        message,
        (number, in) -> {
          if (number > 3) {
            return false;
          }
          fields[number] = in.readUInt64();
          return true;
        });
    return new Lease(fields[1], fields[2], fields[3]);
  }

  /** {@code etcdserverpb.AlarmMember}. */
  static AlarmMember alarm(Bytes message) {
    long[] fields = new long[3];
    read(
        "alarm",
        message,
        (number, in) -> {
          if (number > 2) {
            return false;
          }
          fields[number] = in.readUInt64();
          return true;
        });
    try {
      return new AlarmMember(new NodeId(fields[1]), AlarmType.ofCode((int) fields[2]));
    } catch (IllegalArgumentException e) {
      throw new DamagedDatabaseException("malformed alarm: " + e.getMessage());
    }
  }

  /** {@code authpb.User}. */
  static AuthUser user(Bytes message) {
    String[] texts = {"", "", ""};
    List<String> roles = new ArrayList<>();
    boolean[] noPassword = {false};
    read(
        "user",
        message,
        (number, in) -> {
          switch (number) {
            case 1, 2 -> texts[number] = in.readBytes().toStringUtf8();
            case 3 -> roles.add(in.readBytes().toStringUtf8());
            case 4 -> noPassword[0] = noPassword(Bytes.wrap(in.readByteArray()));
            default -> {
              return false;
            }
          }
          return true;
        });
    return new AuthUser(texts[1], texts[2], noPassword[0], roles.stream().sorted().toList());
  }

  private static boolean noPassword(Bytes options) {
    boolean[] found = {false};
    read(
        "user options",
        options,
        (number, in) -> {
          if (number != 1) {
            return false;
          }
          found[0] = in.readBool();
          return true;
        });
    return found[0];
  }

  /** {@code authpb.Role}. */
  static AuthRole role(Bytes message) {
    String[] name = {""};
    List<Permission> permissions = new ArrayList<>();
    read(
        "role",
        message,
        (number, in) -> {
          switch (number) {
            case 1 -> name[0] = in.readBytes().toStringUtf8();
            case 2 -> permissions.add(permission(Bytes.wrap(in.readByteArray())));
            default -> {
              return false;
            }
          }
          return true;
        });
    return new AuthRole(name[0], permissions);
  }

  private static Permission permission(Bytes message) {
    int[] type = {0};
    Bytes[] range = {Bytes.EMPTY, Bytes.EMPTY};
    read(
        "permission",
        message,
        (number, in) -> {
          switch (number) {
            case 1 -> type[0] = in.readEnum();
            case 2, 3 -> range[number - 2] = Bytes.wrap(in.readByteArray());
            default -> {
              return false;
            }
          }
          return true;
        });
    return new Permission(Permission.Type.ofCode(type[0]), new KeyRange(range[0], range[1]));
  }
}
