package io.troupe.protocol;

import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import org.jspecify.annotations.Nullable;

/**
 * First frame of a connection between members, from the connecting member
 * (docs/formats/peer-connection.md).
 *
 * @param oldest oldest version of the protocol that the sender speaks
 * @param newest newest version of the protocol that the sender speaks
 * @param clusterId cluster of the sender; {@link QueryFrame#NO_CLUSTER} if it has none yet
 * @param from sender; NONE if it has no cluster yet
 * @param to expected receiver; NONE if the sender knows only its URL
 * @param fromUrl first advertised peer URL of the sender
 * @param channel what the connection is for
 * @param server version of etcd's API that the sender serves; null: not sent
 */
public record PeerGreeting(
    int oldest,
    int newest,
    long clusterId,
    NodeId from,
    NodeId to,
    String fromUrl,
    PeerChannel channel,
    @Nullable EtcdVersion server) {

  /** A greeting without the version of the sender. */
  public PeerGreeting(
      int oldest,
      int newest,
      long clusterId,
      NodeId from,
      NodeId to,
      String fromUrl,
      PeerChannel channel) {
    this(oldest, newest, clusterId, from, to, fromUrl, channel, null);
  }

  /** This greeting with the version of the sender. */
  public PeerGreeting of(EtcdVersion version) {
    return new PeerGreeting(oldest, newest, clusterId, from, to, fromUrl, channel, version);
  }

  /**
   * Reply of the accepting member.
   *
   * @param version version of the protocol on this connection; 0 if the connection is refused
   * @param clusterId cluster of the accepting member; {@link QueryFrame#NO_CLUSTER} if it has none
   * @param member the accepting member; NONE if it has no identity yet
   * @param reason why the connection is refused; empty if it is accepted
   * @param starting true if it is refused because the accepting member is not ready yet
   * @param server version of etcd's API that the accepting member serves; null: not sent
   */
  public record Reply(
      int version,
      long clusterId,
      NodeId member,
      String reason,
      boolean starting,
      @Nullable EtcdVersion server) {
    /** A reply that accepts. */
    public static Reply accepted(int version, long clusterId, NodeId member) {
      return new Reply(version, clusterId, member, "", false, null);
    }

    /** A reply that refuses; the other fields are those of the accepting member. */
    public static Reply refused(long clusterId, NodeId member, String reason) {
      return new Reply(0, clusterId, member, reason, false, null);
    }

    /** A reply of a member that is not ready yet. */
    public static Reply notReady() {
      return new Reply(0, QueryFrame.NO_CLUSTER, NodeId.NONE, "the member is starting", true, null);
    }

    /** This reply with the version of the accepting member. */
    public Reply of(EtcdVersion serverVersion) {
      return new Reply(version, clusterId, member, reason, starting, serverVersion);
    }

    /** True if messages may follow. */
    public boolean isAccepted() {
      return version > 0;
    }
  }
}
