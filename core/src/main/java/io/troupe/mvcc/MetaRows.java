package io.troupe.mvcc;

import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Lease;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Rows other than those of keys, whose meaning is defined in other packages: alarms, published
 * attributes, peer URLs, membership, versions of the cluster, grants. The codec is here, like that
 * of all other rows (docs/formats/store-keys.md).
 */
public final class MetaRows {
  /** Key of the encoded membership. */
  public static final Bytes MEMBERSHIP = StoreKeys.META_MEMBERSHIP;

  /** Lowest schema of a state with rows of the versions of the cluster. */
  public static final long VERSIONS_SCHEMA = StoreKeys.SCHEMA_WITH_VERSIONS;

  /** Key of the cluster version. */
  public static final Bytes CLUSTER_VERSION = Bytes.utf8("cluster-version");

  /** Key of the storage version. */
  public static final Bytes STORAGE_VERSION = Bytes.utf8("storage-version");

  /** Key of the target of a downgrade. */
  public static final Bytes DOWNGRADE_TARGET = Bytes.utf8("downgrade-target");

  private static final Bytes ALARM = Bytes.utf8("alarm/");
  private static final Bytes MEMBER = Bytes.utf8("member/");
  private static final Bytes PEER_URLS = Bytes.utf8("peer-urls/");

  private MetaRows() {}

  /** Key of an alarm; the value is empty. */
  public static Bytes alarm(AlarmMember alarm) {
    byte[] tail = new byte[9];
    StoreKeys.putLong(tail, 0, alarm.member().value());
    tail[8] = code(alarm.type());
    return ALARM.concat(Bytes.wrap(tail));
  }

  /** Key of the published attributes of a member. */
  public static Bytes member(NodeId member) {
    return MEMBER.concat(RowCodec.longs(member.value()));
  }

  /** Key of the peer URLs of a member. */
  public static Bytes peerUrls(NodeId member) {
    return PEER_URLS.concat(RowCodec.longs(member.value()));
  }

  /** Value of the peer URLs of a member; empty if none are known. */
  public static Bytes value(List<String> peerUrls) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    peerUrls.forEach(url -> text(out, url));
    return Bytes.wrap(out.toByteArray());
  }

  /** Value of the published attributes of a member. */
  public static Bytes value(MemberAttributes attributes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    text(out, attributes.name());
    attributes.clientUrls().forEach(url -> text(out, url));
    return Bytes.wrap(out.toByteArray());
  }

  /** Passes every alarm to {@code each}, by member id, then type. */
  public static void forEachAlarm(StoreView store, Consumer<AlarmMember> each) {
    try (Cursor rows = prefixed(store, ALARM)) {
      while (rows.next()) {
        Bytes tail = rows.key().slice(ALARM.length());
        NodeId member = new NodeId(StoreKeys.getLong(tail, 0));
        each.accept(new AlarmMember(member, alarmType(tail.at(8))));
      }
    }
  }

  /** Passes the published attributes of every member to {@code each}, by id. */
  public static void forEachMember(StoreView store, Consumer<MemberAttributes> each) {
    try (Cursor rows = prefixed(store, MEMBER)) {
      while (rows.next()) {
        NodeId member = new NodeId(StoreKeys.getLong(rows.key(), MEMBER.length()));
        List<String> texts = texts(rows.value());
        if (texts.isEmpty()) {
          throw new StoreException("damaged row of member attributes");
        }
        each.accept(new MemberAttributes(member, texts.get(0), texts.subList(1, texts.size())));
      }
    }
  }

  /** Passes the peer URLs of every member to {@code each}, by id. */
  public static void forEachPeerUrls(StoreView store, BiConsumer<NodeId, List<String>> each) {
    try (Cursor rows = prefixed(store, PEER_URLS)) {
      while (rows.next()) {
        NodeId member = new NodeId(StoreKeys.getLong(rows.key(), PEER_URLS.length()));
        each.accept(member, texts(rows.value()));
      }
    }
  }

  /** The encoded membership, or null if none was saved. */
  public static @Nullable Bytes membership(StoreView store) {
    return store.get(Space.META, MEMBERSHIP);
  }

  /** Value of one of the versions. */
  public static Bytes value(EtcdVersion version) {
    return Bytes.utf8(version.toString());
  }

  /** The versions of the cluster. */
  public static ClusterVersions versions(StoreView store) {
    return new ClusterVersions(
        version(store, CLUSTER_VERSION),
        version(store, STORAGE_VERSION),
        version(store, DOWNGRADE_TARGET));
  }

  private static @Nullable EtcdVersion version(StoreView store, Bytes key) {
    Bytes value = store.get(Space.META, key);
    try {
      return value == null ? null : EtcdVersion.parse(value.utf8());
    } catch (IllegalArgumentException damaged) {
      throw new StoreException("damaged row " + key.utf8() + ": " + damaged.getMessage());
    }
  }

  /**
   * Granted leases, by id as an unsigned number.
   *
   * @param fromId first id, inclusive
   * @param most maximum number of leases, 1 or more
   */
  public static List<Lease> leases(StoreView store, long fromId, int most) {
    List<Lease> leases = new ArrayList<>();
    try (Cursor rows =
        store.cursor(Space.LEASE, StoreKeys.grant(fromId), StoreKeys.grants(true), false)) {
      while (leases.size() < most && rows.next()) {
        leases.add(RowCodec.lease(StoreKeys.leaseId(rows.key()), rows.value()));
      }
    }
    return leases;
  }

  /** Key of a grant, in {@link Space#LEASE}. */
  public static Bytes grant(long id) {
    return StoreKeys.grant(id);
  }

  /** Value of a grant. */
  public static Bytes value(Lease lease) {
    return RowCodec.grant(lease);
  }

  /** Numbers on disk: never reuse one. */
  private static byte code(AlarmType type) {
    return switch (type) {
      case NONE -> 0;
      case NOSPACE -> 1;
      case CORRUPT -> 2;
    };
  }

  private static AlarmType alarmType(byte code) {
    for (AlarmType type : AlarmType.values()) {
      if (code(type) == code) {
        return type;
      }
    }
    throw new StoreException("unknown alarm type " + code + " in the state");
  }

  static Cursor prefixed(StoreView store, Bytes prefix) {
    byte[] end = prefix.toArray();
    end[end.length - 1]++;
    return store.cursor(Space.META, prefix, Bytes.wrap(end), false);
  }

  /** Length in four bytes, then UTF-8. */
  static void text(ByteArrayOutputStream out, String text) {
    bytes(out, Bytes.utf8(text));
  }

  /** Length in four bytes, then the bytes. */
  static void bytes(ByteArrayOutputStream out, Bytes bytes) {
    byte[] length = new byte[4];
    StoreKeys.putInt(length, 0, bytes.length());
    out.writeBytes(length);
    out.writeBytes(bytes.toArray());
  }

  static List<String> texts(Bytes value) {
    List<String> texts = new ArrayList<>();
    int at = 0;
    while (at < value.length()) {
      Bytes text = bytesAt(value, at);
      texts.add(text.utf8());
      at += 4 + text.length();
    }
    return texts;
  }

  /** Reads what {@link #bytes} wrote. */
  static Bytes bytesAt(Bytes value, int at) {
    int length = value.length() - at < 4 ? -1 : StoreKeys.getInt(value, at);
    if (length < 0 || length > value.length() - at - 4) {
      throw new StoreException("damaged row of META");
    }
    return value.slice(at + 4, at + 4 + length);
  }
}
