package io.troupe.actors.peers;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.QueryFrame.Query;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.codec.GreetingCodec;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.protocol.codec.QueryCodec;
import io.troupe.raft.PeerMessage;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;

/** Bytes that a member sends on its connections to another member. */
public final class GenuineConnections {
  /** Cluster of the test members. */
  public static final long CLUSTER = 4711;

  private GenuineConnections() {}

  /** One connection of each channel. */
  public static List<byte[]> to(NodeId receiver, NodeId sender, String url) {
    byte[] raft =
        join(
            greeting(CLUSTER, sender, receiver, url, PeerChannel.RAFT),
            message(receiver, sender, new PeerMessage.Heartbeat(0, 0, 0)),
            message(
                receiver,
                sender,
                new PeerMessage.Append(
                    0,
                    0,
                    0,
                    List.of(new Entry(0, 1, Entry.Kind.OPERATION, Bytes.wrap(new byte[300]))),
                    0)));
    byte[] snapshots =
        join(
            greeting(CLUSTER, sender, receiver, url, PeerChannel.SNAPSHOT),
            frame(
                Frames.MESSAGE,
                PeerCodec.encode(
                    new PeerEnvelope(
                        CLUSTER, sender, receiver, new SnapshotMessage.Have(1, 2, 3)))));
    byte[] queries =
        join(
            greeting(CLUSTER, sender, NodeId.NONE, url, PeerChannel.QUERY),
            frame(
                Frames.QUERY,
                QueryCodec.encode(
                    new Query(
                        CLUSTER,
                        sender,
                        1,
                        url,
                        Duration.ofSeconds(1),
                        PeerQuery.MembersQuery.INSTANCE))));
    return List.of(raft, snapshots, queries);
  }

  private static byte[] message(NodeId receiver, NodeId sender, PeerMessage message) {
    return frame(
        Frames.MESSAGE,
        PeerCodec.encode(
            new PeerEnvelope(CLUSTER, sender, receiver, new PeerPayload.Raft(message))));
  }

  static byte[] greeting(
      long cluster, NodeId sender, NodeId receiver, String url, PeerChannel channel) {
    return frame(
        Frames.GREETING,
        GreetingCodec.encode(new PeerGreeting(1, 1, cluster, sender, receiver, url, channel)));
  }

  static byte[] frame(byte kind, byte[] body) {
    return ByteBuffer.allocate(5 + body.length).putInt(body.length).put(kind).put(body).array();
  }

  static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }
}
