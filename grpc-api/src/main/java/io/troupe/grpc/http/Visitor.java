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
record Visitor(
    boolean secure, @Nullable String certificateName, String client, Conversation conversation) {
  /** Over a port without TLS. */
  static Visitor plain(String client, Conversation conversation) {
    return new Visitor(false, null, client, conversation);
  }

  /** What its connection makes this process hold. */
  MemoryBudget.Holder memory() {
    return conversation.memory();
  }

  /** The same without its certificate. */
  Visitor withoutLogin() {
    return new Visitor(secure, null, client, conversation);
  }
}
