package io.troupe.grpc.unix;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that waits for many sockets. It does not do more for a socket than to look or read
 * once; everything else happens where its stream runs.
 */
final class SocketLoop {
  private static final Logger LOG = LoggerFactory.getLogger(SocketLoop.class);
  private static final int READ_BYTES = 64 << 10;

  /** Called on the loop's thread; must not wait. */
  interface Ready {
    /**
     * A socket can do what was wanted of it, which is not wanted any more from now on.
     *
     * @param operations of {@link SelectionKey}
     * @param buffer empty, to read into; not to be kept
     */
    void ready(int operations, ByteBuffer buffer);
  }

  private final Selector selector;
  private volatile boolean closed;

  /** Starts the thread, a daemon. */
  SocketLoop(String name) throws IOException {
    this.selector = Selector.open();
    Thread thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Adds a socket of which nothing is wanted yet. */
  SelectionKey register(SelectableChannel channel, Ready ready) throws IOException {
    channel.configureBlocking(false);
    return channel.register(selector, 0, ready);
  }

  /**
   * Asks to be told once when one of the operations can be done. A closed socket is skipped.
   */
  void want(SelectionKey key, int operations) {
    try {
      key.interestOpsOr(operations);
      selector.wakeup();
    } catch (CancelledKeyException closedMeanwhile) {
      LOG.trace("nothing can be wanted of a closed socket", closedMeanwhile);
    }
  }

  /** A socket was closed: the system frees it when the selector has released it. */
  void forget() {
    selector.wakeup();
  }

  /** Ends the thread once no socket is left. */
  void close() {
    closed = true;
    selector.wakeup();
  }

  private void run() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
    try (selector) {
      while (!closed || !selector.keys().isEmpty()) {
        selector.select(key -> serve(key, buffer));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("unix sockets are not served any more", e);
    }
  }

  private static void serve(SelectionKey key, ByteBuffer buffer) {
    try {
      int operations = key.readyOps();
      key.interestOpsAnd(~operations);
      buffer.clear();
      ((Ready) key.attachment()).ready(operations, buffer);
    } catch (CancelledKeyException closedMeanwhile) {
      LOG.trace("a socket was closed while it became ready", closedMeanwhile);
    }
  }
}
