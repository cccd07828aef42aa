package io.troupe.actors.peers;

import javax.net.ssl.SSLEngine;

/** TLS between members: what each new connection is secured with. Thread-safe. */
public interface PeerEngines {
  /** For a connection that another member opens: in server mode, ready for its handshake. */
  SSLEngine server();

  /**
   * For a connection to another member: in client mode, ready for its handshake.
   *
   * @param host of the other's peer URL; its certificate must be for it
   */
  SSLEngine client(String host, int port);
}
