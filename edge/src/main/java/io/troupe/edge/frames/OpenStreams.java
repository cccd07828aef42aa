package io.troupe.edge.frames;

import io.troupe.model.MemoryBudget;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one HTTP/2 connection and the memory that the HTTP layer holds for them, mainly
 * their headers, from the first frame until both sides have ended the stream or one has reset it.
 * Used by one thread, except for {@link #isOpen}, {@link #isEmpty} and {@link #holds}.
 *
 * @source RFC 9113 section 5.1
 */
final class OpenStreams {
  /** Approximate cost of a stream besides its headers: its state, its request, its stages. */
  private static final int STREAM_BYTES = 2048;

  /**
   * Approximate maximum cost of a byte of a header block. A byte may refer to a whole field of a
   * table, which then is one more pair of 34 bytes in a list. A literal field has at least four
   * bytes and costs about 150.
   */
  private static final int BYTES_OF_HEADER_BYTE = 40;

  /** Step of the counting against the budget, so that few concurrent calls cost nothing. */
  private static final int STEP = 64 << 10;

  /** Streams whose response has not ended. */
  private final Map<Integer, OpenStream> open = new ConcurrentHashMap<>();

  /** Streams whose response has ended before the request. The HTTP layer keeps their headers. */
  private final Map<Integer, OpenStream> incomplete = new HashMap<>();

  private final MemoryBudget.Share share;
  private long bytes;
  private long counted;

  /**
   * Starts without streams.
   *
   * @param share counts what the HTTP layer holds; closed with the connection
   */
  OpenStreams(MemoryBudget.Share share) {
    this.share = share;
  }

  /** Whether a stream has started, its response has not ended, and it is not reset. Thread-safe. */
  boolean isOpen(int stream) {
    return open.containsKey(stream);
  }

  /** Whether no stream is open. Thread-safe. */
  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Closes the share with the stream, immediately if it is not open. Thread-safe. */
  void holds(int stream, MemoryBudget.Share held) {
    OpenStream found = open.get(stream);
    if (found == null) {
      held.close();
    } else {
      found.holds(held);
    }
  }

  /** Starts a stream. Its cost counts with its headers. */
  void begin(int stream) {
    OpenStream begun = new OpenStream();
    begun.add(STREAM_BYTES);
    bytes += STREAM_BYTES;
    open.put(stream, begun);
  }

  /**
   * Counts a frame of a header block.
   *
   * @param length of its content
   * @throws MemoryBudget.Exceeded if no memory is left for the connection
   */
  void headers(int stream, int length) {
    OpenStream found = open.get(stream);
    if (found != null) {
      long more = (long) BYTES_OF_HEADER_BYTE * length;
      found.add(more);
      bytes += more;
      if (bytes - counted >= STEP) {
        long all = bytes - counted;
        counted = bytes;
        share.take(all);
      }
    }
  }

  /** The client has sent its whole request. */
  void requestEnded(int stream) {
    OpenStream found = open.get(stream);
    if (found != null) {
      found.completed();
    } else {
      release(incomplete.remove(stream));
    }
  }

  /** The server has sent bytes of a response. */
  void sent(int stream, int length) {
    OpenStream found = open.get(stream);
    if (found != null) {
      found.sent(length);
    }
  }

  /** The server has sent its whole response. */
  void responseEnded(int stream) {
    OpenStream found = open.remove(stream);
    if (found != null) {
      found.end();
      if (found.isComplete()) {
        release(found);
      } else {
        incomplete.put(stream, found);
      }
    }
  }

  /** Either side has reset the stream. */
  void reset(int stream) {
    OpenStream found = open.remove(stream);
    if (found == null) {
      found = incomplete.remove(stream);
    } else {
      found.end();
    }
    release(found);
  }

  private void release(@Nullable OpenStream ended) {
    if (ended != null) {
      bytes -= ended.bytes();
      if (counted - bytes >= 2 * STEP) {
        counted = bytes;
        share.shrinkTo(counted);
      }
    }
  }

  /** The connection is closed. */
  void closed() {
    open.values().forEach(OpenStream::end);
    open.clear();
    incomplete.clear();
    share.close();
  }
}
