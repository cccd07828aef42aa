package io.troupe.actors.peers;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** A connection between members, with TLS or without. Can be closed from any thread. */
final class PeerSocket implements Closeable {
  private static final int BUFFER_BYTES = 16 << 10;

  private final Socket raw;
  private final Socket secured;
  private final InputStream in;
  private volatile boolean closed;

  /**
   * A connection.
   *
   * @param raw a connected socket
   * @param secured {@code raw}, or TLS on it
   */
  PeerSocket(Socket raw, Socket secured) throws IOException {
    this.raw = raw;
    this.secured = secured;
    this.in = new BufferedInputStream(secured.getInputStream(), BUFFER_BYTES);
  }

  /** A connection without TLS. */
  static PeerSocket plain(Socket raw) throws IOException {
    return new PeerSocket(raw, raw);
  }

  /**
   * From now on a write of any other thread does not wait for the other side, but may leave bytes
   * to {@link #sendKept}. Only for connections that this member opened.
   */
  void onlyWaits(Thread writer) {
    if (raw instanceof ChannelSocket channel) {
      channel.onlyWaits(writer);
    } else {
      throw new IllegalStateException("not a connection that this member opened");
    }
  }

  /** True if bytes of other threads wait for {@link #sendKept}. */
  boolean keepsBytes() {
    return raw instanceof ChannelSocket channel && channel.keepsBytes();
  }

  /** Sends the bytes that writes of other threads left. Waits for the other side. */
  void sendKept() throws IOException {
    if (raw instanceof ChannelSocket channel) {
      channel.sendKept();
    }
  }

  /** Buffered. */
  InputStream in() {
    return in;
  }

  OutputStream out() throws IOException {
    return secured.getOutputStream();
  }

  /** Address of the other side; null for a unix socket. */
  @Nullable InetAddress remote() {
    return raw.getInetAddress();
  }

  /** Address and port of the other side, for the log. */
  String remoteText() {
    InetAddress remote = raw.getInetAddress();
    return remote == null ? "@" : remote.getHostAddress() + ":" + raw.getPort();
  }

  /** Runs the TLS handshake, if there is TLS. */
  void handshake() throws IOException {
    if (secured instanceof SSLSocket tls) {
      tls.startHandshake();
    }
  }

  /** Session of the finished handshake; null without TLS. */
  @Nullable SSLSession session() {
    return secured instanceof SSLSocket tls ? tls.getSession() : null;
  }

  /** From now on a read fails if no byte comes in that time. */
  void timeout(Duration timeout) throws IOException {
    secured.setSoTimeout((int) timeout.toMillis());
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Sends no more and reads until the other side closes. If this side closed first, bytes that are
   * still in flight would reset the connection, and the other side would lose what was sent to it
   * last: the alert that tells why its handshake failed.
   *
   * @param mostBytes gives up after that many
   */
  void drain(int mostBytes) throws IOException {
    raw.shutdownOutput();
    byte[] ignored = new byte[1024];
    int left = mostBytes;
    while (left > 0) {
      int got = raw.getInputStream().read(ignored, 0, Math.min(left, ignored.length));
      if (got < 0) {
        return;
      }
      left -= got;
    }
  }

  /** Closes the TCP connection at once: to end TLS in order could block. */
  @Override
  public void close() {
    closed = true;
    try {
      raw.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Closes the connection so that no state of it stays on this machine. */
  void reset() {
    try {
      raw.setSoLinger(true, 0);
    } catch (IOException ended) {
      // Closed already: nothing stays either.
    }
    close();
  }
}
