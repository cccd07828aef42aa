package io.troupe.edge.connection;

import io.troupe.model.MemoryBudget;
import io.troupe.server.ReplyExecutor;
import org.jspecify.annotations.Nullable;

/**
 * The client of a request, as far as its connection identifies it.
 *
 * @param secure whether the connection uses TLS
 * @param certificateName common name of the verified certificate, if that is a login on its port
 *     (A14), empty if it has none; null otherwise
 * @param client its address, for the log
 * @param connection state of its connection
 * @param executor runs what follows a reply on the thread of its connection
 */
public record ClientInfo(
    boolean secure,
    @Nullable String certificateName,
    String client,
    ConnectionState connection,
    ReplyExecutor executor) {
  /** A client on a port without TLS. */
  public static ClientInfo plain(
      String client, ConnectionState connection, ReplyExecutor executor) {
    return new ClientInfo(false, null, client, connection, executor);
  }

  /** The memory that the connection makes this process hold. */
  public MemoryBudget.Holder memory() {
    return connection.memory();
  }

  /** The same client without its certificate. */
  public ClientInfo withoutLogin() {
    return new ClientInfo(secure, null, client, connection, executor);
  }
}
