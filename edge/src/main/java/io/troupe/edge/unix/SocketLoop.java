package io.troupe.edge.unix;

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
 * One thread that polls many sockets. For a socket it only checks readiness or reads once;
 * everything else runs in the socket's stream.
 */
final class SocketLoop {
  private static final Logger LOG = LoggerFactory.getLogger(SocketLoop.class);
  private static final int READ_BYTES = 64 << 10;

  /** Called on the loop's thread; must not block. */
  interface Ready {
    /**
     * A socket is ready for some of the wanted operations, which are no longer wanted after this
     * call.
     *
     * @param operations of {@link SelectionKey}
     * @param buffer empty, to read into; must not be kept
     */
    void ready(int operations, ByteBuffer buffer);
  }

  private final Selector selector;
  private volatile boolean closed;

  /** Starts the daemon thread. */
  SocketLoop(String name) throws IOException {
    this.selector = Selector.open();
    Thread thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Registers a socket, with no wanted operation yet. */
  SelectionKey register(SelectableChannel channel, Ready ready) throws IOException {
    channel.configureBlocking(false);
    return channel.register(selector, 0, ready);
  }

  /**
   * Requests one notification when one of the operations is possible. A closed socket is skipped.
   */
  void want(SelectionKey key, int operations) {
    try {
      key.interestOpsOr(operations);
      selector.wakeup();
    } catch (CancelledKeyException closedMeanwhile) {
      LOG.trace("ignored request for a closed unix socket", closedMeanwhile);
    }
  }

  /** A socket was closed; the system frees it when the selector has released it. */
  void forget() {
    selector.wakeup();
  }

  /** Stops the thread once no socket is left. */
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
      throw new UncheckedIOException("cannot poll unix sockets", e);
    }
  }

  private static void serve(SelectionKey key, ByteBuffer buffer) {
    try {
      int operations = key.readyOps();
      key.interestOpsAnd(~operations);
      buffer.clear();
      ((Ready) key.attachment()).ready(operations, buffer);
    } catch (CancelledKeyException closedMeanwhile) {
      LOG.trace("unix socket closed while it became ready", closedMeanwhile);
    }
  }
}
