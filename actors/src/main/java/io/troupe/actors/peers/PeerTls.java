package io.troupe.actors.peers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** TLS between members: secures new connections. Thread-safe. */
public interface PeerTls {
  /**
   * Secures a connection that another member opened.
   *
   * @return in server mode, before its handshake; leaves {@code accepted} open when it closes, also
   *     after a failed handshake
   */
  SSLSocket server(Socket accepted) throws IOException;

  /**
   * Secures a connection to another member.
   *
   * @param connected a connected socket
   * @param host of the other member's peer URL; its certificate must be valid for it
   * @return in client mode, before its handshake; closes {@code connected} with itself
   */
  SSLSocket client(Socket connected, String host, int port) throws IOException;

  /**
   * Checks the address that a certificate comes from, if the other member showed one (TL2). Does
   * not wait.
   *
   * @param session of a finished handshake
   * @param from address of the connecting member; null for a unix socket, which has none
   * @return fails, in bounded time, if the certificate is not valid for that address
   */
  CompletionStage<Void> checkAddress(SSLSession session, @Nullable InetAddress from);

  /**
   * True if a certificate is only valid for members with a peer URL that it names. If not, any
   * certificate that passes the handshake may act for any member, as in etcd.
   */
  default boolean bindsMembers() {
    return false;
  }

  /**
   * True if the certificate that the other member showed is valid for that host. Does not wait.
   *
   * @param session of a finished handshake
   * @param host a DNS name or an address, without brackets
   */
  default boolean isFor(SSLSession session, String host) {
    return true;
  }
}
