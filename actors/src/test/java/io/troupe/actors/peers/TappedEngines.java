package io.troupe.actors.peers;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocketFactory;

/**
 * Engines that keep the beginning of what members say to each other inside TLS, and count the
 * handshakes that they are asked for. Thread-safe.
 */
public final class TappedEngines implements PeerEngines {
  private static final int KEPT_BYTES = 256 << 10;

  private final TestEngines engines;
  private final AtomicLong handshakes = new AtomicLong();
  private final Map<Integer, List<ByteArrayOutputStream>> said = new HashMap<>();

  /** Over others. */
  public TappedEngines(TestEngines engines) {
    this.engines = engines;
  }

  @Override
  public SSLEngine server() {
    handshakes.incrementAndGet();
    return engines.server();
  }

  @Override
  public SSLEngine client(String host, int port) {
    ByteArrayOutputStream kept = new ByteArrayOutputStream();
    synchronized (said) {
      said.computeIfAbsent(port, any -> new ArrayList<>()).add(kept);
    }
    return new WatchedEngine(engines.client(host, port), failure -> {}) {
      @Override
      public SSLEngineResult wrap(ByteBuffer[] from, int offset, int length, ByteBuffer to)
          throws SSLException {
        ByteBuffer[] before = new ByteBuffer[length];
        for (int i = 0; i < length; i++) {
          before[i] = from[offset + i].duplicate();
        }
        SSLEngineResult result = super.wrap(from, offset, length, to);
        keep(kept, before, result.bytesConsumed());
        return result;
      }
    };
  }

  @Override
  public CompletionStage<Void> checkAddress(SSLSession session, InetAddress from) {
    return engines.checkAddress(session, from);
  }

  private void keep(ByteArrayOutputStream kept, ByteBuffer[] parts, int consumed) {
    int left = consumed;
    synchronized (said) {
      for (ByteBuffer part : parts) {
        byte[] bytes = new byte[Math.min(left, part.remaining())];
        part.get(bytes);
        left -= bytes.length;
        if (kept.size() < KEPT_BYTES) {
          kept.writeBytes(bytes);
        }
      }
    }
  }

  /** What was said so far to a port, a piece for each connection. */
  public List<byte[]> saidTo(int port) {
    synchronized (said) {
      return said.getOrDefault(port, List.of()).stream()
          .map(ByteArrayOutputStream::toByteArray)
          .toList();
    }
  }

  /** Connections of others that got an engine. */
  public long handshakes() {
    return handshakes.get();
  }

  /** Connections of a client with the members' certificate. */
  public SSLSocketFactory sockets() {
    return engines.sockets();
  }
}
