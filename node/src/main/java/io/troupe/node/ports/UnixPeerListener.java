package io.troupe.node.ports;

import io.troupe.actors.peers.ChannelSocket;
import io.troupe.actors.peers.PeerListener;
import io.troupe.edge.unix.UnixSocketFile;
import java.io.IOException;
import java.net.Socket;

/** Accepts connections of other members on a unix socket. */
final class UnixPeerListener implements PeerListener {
  private final UnixSocketFile file;

  /** Owns the file. */
  UnixPeerListener(UnixSocketFile file) {
    this.file = file;
  }

  @Override
  public Socket accept() throws IOException {
    return new ChannelSocket(file.channel().accept());
  }

  @Override
  public void close() {
    file.close();
  }
}
