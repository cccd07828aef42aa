package io.troupe.actors.peers;

import io.troupe.model.NodeId;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerGreeting;
import io.troupe.protocol.QueryFrame;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Receives what other members send on the channels that it serves. Called on the threads of the
 * connections; never blocks. Thread-safe.
 */
interface PeerReceiver {
  /**
   * Checks the greeting of a connection.
   *
   * @return null if its messages may follow, otherwise the reason for the log of both sides
   */
  @Nullable String refusal(PeerGreeting greeting);

  /**
   * Reply to an accepted greeting.
   *
   * @param version version of the protocol on the connection
   */
  PeerGreeting.Reply reply(int version);

  /** Peer URLs of a member; empty if it is none, as far as is known here. */
  List<String> urlsOf(NodeId member);

  /**
   * A message of the channels RAFT and SNAPSHOT.
   *
   * @param bytes encoded size
   */
  void message(PeerGreeting greeting, PeerEnvelope envelope, int bytes);

  /** A query or a reply of the channel QUERY. */
  void query(PeerGreeting greeting, QueryFrame frame);

  /** A message that cannot be read. */
  void unreadable(PeerGreeting greeting, String reason);
}
