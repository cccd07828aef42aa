package io.troupe.grpc.http;

import io.troupe.model.MemoryBudget;
import org.jspecify.annotations.Nullable;

/**
 * Who sent a request, as far as the connection tells.
 *
 * @param secure whether it came over TLS
 * @param certificateName common name of the verified certificate, if that is a login on its port
 *     (A14), empty if it has none; null otherwise
 * @param client its address, for the log
 * @param conversation what is known of its connection
 */
record ClientInfo(
    boolean secure, @Nullable String certificateName, String client, ConnectionState conversation) {
  /** Over a port without TLS. */
  static ClientInfo plain(String client, ConnectionState conversation) {
    return new ClientInfo(false, null, client, conversation);
  }

  /** What its connection makes this process hold. */
  MemoryBudget.Holder memory() {
    return conversation.memory();
  }

  /** The same without its certificate. */
  ClientInfo withoutLogin() {
    return new ClientInfo(secure, null, client, conversation);
  }
}
