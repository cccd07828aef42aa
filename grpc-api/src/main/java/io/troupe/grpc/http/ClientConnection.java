package io.troupe.grpc.http;

import java.net.InetSocketAddress;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * A connection as it was accepted.
 *
 * @param address of its client; null over a unix socket, where clients have none
 * @param bytes takes what the client is to get, gives what it sends; to be run once
 * @param conversation what is known of it
 */
record ClientConnection(
    @Nullable InetSocketAddress address,
    Flow<ByteString, ByteString, NotUsed> bytes,
    ConnectionState conversation) {
  /** The client's address as the log has it; etcd's sign for a unix socket is an at sign. */
  String client() {
    return address == null ? "@" : address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
