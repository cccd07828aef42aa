package io.troupe.actors.peers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connected unix socket as a {@link Socket}, which the JDK does not have: TLS needs one. Has
 * streams, a timeout for reads, and can be closed from any thread; it has no address.
 */
public final class UnixSocket extends Socket {
  private final SocketChannel channel;
  private final Selector readable;
  private final Selector writable;
  private volatile int timeoutMs;

  /** Over a connected channel, which it owns. */
  public UnixSocket(SocketChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
    this.readable = Selector.open();
    this.writable = Selector.open();
    channel.register(readable, SelectionKey.OP_READ);
    channel.register(writable, SelectionKey.OP_WRITE);
  }

  /** Connects to the process that listens there. */
  static UnixSocket connect(Path path) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(path));
      return new UnixSocket(channel);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** Waits until the channel is ready; the time in milliseconds is 0 for no limit. */
  private static void await(Selector selector, long ms) throws IOException {
    long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    try {
      while (true) {
        long left = ms == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
        if (ms > 0 && left <= 0) {
          throw new SocketTimeoutException("Read timed out");
        }
        if (selector.select(left) > 0) {
          selector.selectedKeys().clear();
          return;
        }
        if (!selector.isOpen()) {
          throw new SocketException("Socket closed");
        }
      }
    } catch (ClosedSelectorException closed) {
      throw closed(closed);
    }
  }

  private static SocketException closed(Exception cause) {
    SocketException closed = new SocketException("Socket closed");
    closed.initCause(cause);
    return closed;
  }

  @Override
  public InputStream getInputStream() {
    return new In();
  }

  @Override
  public OutputStream getOutputStream() {
    return new Out();
  }

  @Override
  public boolean isConnected() {
    return true;
  }

  @Override
  public boolean isBound() {
    return true;
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public @Nullable InetAddress getInetAddress() {
    return null;
  }

  @Override
  public int getPort() {
    return 0;
  }

  @Override
  public synchronized void setSoTimeout(int ms) {
    timeoutMs = ms;
  }

  @Override
  public synchronized int getSoTimeout() {
    return timeoutMs;
  }

  @Override
  public void setTcpNoDelay(boolean on) {
    // A unix socket delays nothing.
  }

  @Override
  public void setSoLinger(boolean on, int seconds) {
    // A unix socket leaves no state.
  }

  @Override
  public synchronized void close() throws IOException {
    channel.close();
    // Wakes threads that wait.
    readable.close();
    writable.close();
  }

  private final class In extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      ByteBuffer buffer = ByteBuffer.wrap(into, offset, length);
      if (length == 0) {
        return 0;
      }
      try {
        int read = channel.read(buffer);
        while (read == 0) {
          await(readable, timeoutMs);
          read = channel.read(buffer);
        }
        return read;
      } catch (ClosedChannelException e) {
        throw closed(e);
      }
    }

    @Override
    public void close() throws IOException {
      UnixSocket.this.close();
    }
  }

  private final class Out extends OutputStream {
    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
      ByteBuffer buffer = ByteBuffer.wrap(from, offset, length);
      try {
        while (buffer.hasRemaining()) {
          if (channel.write(buffer) == 0) {
            await(writable, 0);
          }
        }
      } catch (ClosedChannelException e) {
        throw closed(e);
      }
    }

    @Override
    public void close() throws IOException {
      UnixSocket.this.close();
    }
  }
}
