package io.troupe.node.hostile;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Requests to the JSON gateway over HTTP/1.1 whose responses nobody reads. */
final class UnreadJson implements Attack {
  private final int connections;
  private final String path;
  private final String body;
  private final String headers;

  /**
   * An attack.
   *
   * @param connections with one request each
   * @param headers lines with their ends; empty for none
   */
  UnreadJson(int connections, String path, String body, String headers) {
    this.connections = connections;
    this.path = path;
    this.body = body;
    this.headers = headers;
  }

  /** Sends one request. */
  static Socket request(int port, String path, String body, String headers) throws IOException {
    return request(new Socket(), port, path, body, headers);
  }

  private static Socket request(Socket socket, int port, String path, String body, String headers)
      throws IOException {
    socket.setSoTimeout(60_000);
    socket.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "POST "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\n"
            + headers
            + "Content-Length: "
            + content.length
            + "\r\n\r\n";
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().write(content);
    return socket;
  }

  @Override
  public Held on(int port) throws IOException {
    List<Socket> held = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      Socket socket = new Socket();
      // Most of a response stays with the member.
      socket.setReceiveBufferSize(16 << 10);
      held.add(request(socket, port, path, body, headers));
    }
    return () -> {
      for (Socket socket : held) {
        try {
          socket.close();
        } catch (IOException e) {
          throw new IllegalStateException("a socket does not close", e);
        }
      }
    };
  }
}
