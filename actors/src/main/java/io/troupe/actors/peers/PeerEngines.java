package io.troupe.actors.peers;

import java.net.InetAddress;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;

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

  /**
   * Checks where the certificate of another member comes from, if it showed one (TL2). Does not
   * wait.
   *
   * @param session of a handshake that is over
   * @param from where its connection comes from
   * @return fails, in bounded time, if it may not come from there
   */
  CompletionStage<Void> checkAddress(SSLSession session, InetAddress from);

  /**
   * Whether a certificate is only valid for members with a peer URL that it names. If not, any
   * certificate that passes the handshake may act for any member, as in etcd.
   */
  default boolean bindsMembers() {
    return false;
  }

  /**
   * Whether the certificate that the other side showed is for that host. Does not wait.
   *
   * @param session of a handshake that is over
   * @param host a DNS name or an address, without brackets
   */
  default boolean isFor(SSLSession session, String host) {
    return true;
  }
}
