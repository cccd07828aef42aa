package io.troupe.actors.peers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A connected channel of TCP or of a unix socket as a {@link Socket}, which TLS needs. Has streams,
 * a timeout for reads, and can be closed from any thread.
 *
 * <p>By default a write waits until the system has taken all bytes. After {@link #onlyWaits} only
 * one thread waits: for any other thread the socket keeps what the system does not take, up to
 * {@link #MAX_KEPT_BYTES}, and that thread sends it later.
 */
public final class ChannelSocket extends Socket {
  /** A write that would keep more than this fails. */
  static final int MAX_KEPT_BYTES = 128 << 10;

  private static final byte[] NONE = new byte[0];

  private final SocketChannel channel;
  private final boolean unix;
  private final Selector readable;

  /** Opened by the first write that waits, which most connections never have. */
  private @Nullable Selector writable;

  private final Out out = new Out();
  private volatile int timeoutMs;

  /** Over a connected channel, which it owns. */
  public ChannelSocket(SocketChannel channel) throws IOException {
    this.channel = channel;
    this.unix = channel.getRemoteAddress() instanceof UnixDomainSocketAddress;
    channel.configureBlocking(false);
    this.readable = selector(SelectionKey.OP_READ);
  }

  private Selector selector(int operation) throws IOException {
    Selector selector = Selector.open();
    try {
      channel.register(selector, operation);
      return selector;
    } catch (IOException | RuntimeException e) {
      selector.close();
      throw e;
    }
  }

  private synchronized Selector writable() throws IOException {
    if (writable == null) {
      writable = selector(SelectionKey.OP_WRITE);
    }
    return writable;
  }

  /** Connects to the process that listens there. */
  static ChannelSocket connect(Path path) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(path));
      return new ChannelSocket(channel);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /**
   * Connects over TCP, without the delay of short writes.
   *
   * @param localHost address that the connection comes from; null for the system's choice
   * @throws SocketTimeoutException if it takes longer than {@code timeoutMs}
   */
  static ChannelSocket connect(@Nullable String localHost, InetSocketAddress address, int timeoutMs)
      throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.socket().setTcpNoDelay(true);
      if (localHost != null) {
        channel.bind(new InetSocketAddress(InetAddress.getByName(localHost), 0));
      }
      channel.socket().connect(address, timeoutMs);
      return new ChannelSocket(channel);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** From now on only this thread waits for the system to take bytes. */
  void onlyWaits(Thread writer) {
    out.waits = writer;
  }

  /** True if bytes wait for {@link #sendKept}. */
  boolean keepsBytes() {
    return out.kept.length > 0;
  }

  /** Waits until the system has taken all kept bytes. */
  void sendKept() throws IOException {
    out.write(NONE, 0, 0);
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
    return out;
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

  /** Null for a unix socket. */
  @Override
  public @Nullable InetAddress getInetAddress() {
    return unix ? null : channel.socket().getInetAddress();
  }

  /** 0 for a unix socket. */
  @Override
  public int getPort() {
    return unix ? 0 : channel.socket().getPort();
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
  public void setTcpNoDelay(boolean on) throws SocketException {
    // A unix socket delays nothing.
    if (!unix) {
      channel.socket().setTcpNoDelay(on);
    }
  }

  @Override
  public void setSoLinger(boolean on, int seconds) throws SocketException {
    // A unix socket leaves no state.
    if (!unix) {
      channel.socket().setSoLinger(on, seconds);
    }
  }

  @Override
  public void shutdownOutput() throws IOException {
    channel.shutdownOutput();
  }

  @Override
  public synchronized void close() throws IOException {
    channel.close();
    // Wakes threads that wait.
    readable.close();
    if (writable != null) {
      writable.close();
    }
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
      ChannelSocket.this.close();
    }
  }

  private final class Out extends OutputStream {
    private final ReentrantLock lock = new ReentrantLock();

    /** The only thread that waits; null if every thread does. */
    private volatile @Nullable Thread waits;

    /** Bytes that the system has not taken yet. Changed under the lock. */
    private volatile byte[] kept = NONE;

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
      Thread only = waits;
      boolean mayWait = only == null || only == Thread.currentThread();
      ByteBuffer bytes = ByteBuffer.wrap(from, offset, length);
      try {
        while (!writeSome(bytes, !mayWait)) {
          // Without the lock, which a thread that must not wait may need.
          await(writable(), 0);
        }
      } catch (ClosedChannelException e) {
        throw closed(e);
      }
    }

    /** True if the system took all bytes, or the rest is kept. */
    private boolean writeSome(ByteBuffer bytes, boolean keepRest) throws IOException {
      lock.lock();
      try {
        if (kept.length > 0) {
          ByteBuffer earlier = ByteBuffer.wrap(kept);
          channel.write(earlier);
          kept = Arrays.copyOfRange(kept, earlier.position(), kept.length);
        }
        if (kept.length == 0) {
          channel.write(bytes);
        }
        if (keepRest && bytes.hasRemaining()) {
          keep(bytes);
        }
        return keepRest || (kept.length == 0 && !bytes.hasRemaining());
      } finally {
        lock.unlock();
      }
    }

    private void keep(ByteBuffer rest) throws IOException {
      int before = kept.length;
      if (before + rest.remaining() > MAX_KEPT_BYTES) {
        throw new IOException("the other side takes too little");
      }
      byte[] more = Arrays.copyOf(kept, before + rest.remaining());
      rest.get(more, before, rest.remaining());
      kept = more;
    }

    @Override
    public void close() throws IOException {
      ChannelSocket.this.close();
    }
  }
}
