package io.troupe.etcd;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import java.util.List;

/**
 * Data of an entry that changes a member: {@code raftpb.ConfChange}, whose context is a JSON
 * object.
 *
 * @param peerUrls empty for a removal and a promotion
 */
public record MemberChange(Kind kind, NodeId member, List<String> peerUrls) {
  /** etcd writes a promotion as the addition of a voter. */
  public enum Kind {
    /** Adds a voter. */
    ADD_VOTER,
    /** Removes a member. */
    REMOVE,
    /** Changes peer URLs. */
    UPDATE,
    /** Adds a learner. */
    ADD_LEARNER,
    /** Promotes a learner to a voter. */
    PROMOTE
  }

  /** Copies the list. */
  public MemberChange {
    peerUrls = List.copyOf(peerUrls);
  }

  /**
   * Reads a change.
   *
   * @throws io.troupe.etcd.bolt.DamagedDatabaseException if it is malformed
   */
  public static MemberChange decode(Bytes data) {
    long[] numbers = new long[4];
    Bytes[] context = {Bytes.EMPTY};
    EtcdMessageReader.read(
        "change of a member",
        data,
        (number, in) -> {
          switch (number) {
            case 1, 2, 3 -> numbers[number] = in.readUInt64();
            case 4 -> context[0] = Bytes.wrap(in.readByteArray());
            default -> {
              return false;
            }
          }
          return true;
        });
    NodeId member = new NodeId(numbers[3]);
    Kind kind =
        switch ((int) numbers[2]) {
          case 0 -> Kind.ADD_VOTER;
          case 1 -> Kind.REMOVE;
          case 2 -> Kind.UPDATE;
          case 3 -> Kind.ADD_LEARNER;
          default -> throw EtcdMessageReader.malformed("change of a member", "kind " + numbers[2]);
        };
    if (kind == Kind.REMOVE) {
      return new MemberChange(kind, member, List.of());
    }
    EtcdJson json = EtcdJson.parse("change of member " + member, context[0]);
    return kind == Kind.ADD_VOTER && json.flag("isPromote")
        ? new MemberChange(Kind.PROMOTE, member, List.of())
        : new MemberChange(kind, member, json.texts("peerURLs"));
  }
}
