package io.troupe.edge.connection;

import java.net.InetSocketAddress;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * An accepted connection.
 *
 * @param address of the client; null over a unix socket, which has no address
 * @param bytes receives the bytes for the client and emits the bytes of the client; materialize it
 *     once
 * @param connection state of the connection
 */
public record ClientConnection(
    @Nullable InetSocketAddress address,
    Flow<ByteString, ByteString, NotUsed> bytes,
    ConnectionState connection) {
  /** The client's address for the log; an at sign for a unix socket, as in etcd. */
  String client() {
    return address == null ? "@" : address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
