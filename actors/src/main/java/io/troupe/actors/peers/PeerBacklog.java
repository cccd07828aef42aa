package io.troupe.actors.peers;

import io.troupe.model.NodeId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Messages of other members between an inbox and the actor that handles them: bounded in bytes
 * together, and in number for each sender. What does not fit is dropped, as the network may drop
 * it. A sender with little here is never refused, so a member that floods this one keeps neither
 * heartbeats nor replies of others away. Thread-safe.
 */
public final class PeerBacklog {
  /** What a message takes besides what it carries, about. */
  private static final long MESSAGE_BYTES = 256;

  /** Of messages that wait of one sender. Members send far fewer between two replies. */
  private static final int MOST_MESSAGES = 4096;

  /** What each member may have here whatever the others do. */
  private static final long FREE_BYTES = 64 << 10;

  private final long maxBytes;
  private final Predicate<NodeId> isMember;
  private final Map<NodeId, Sender> senders = new ConcurrentHashMap<>();
  private long bytes;

  private static final class Sender {
    private long bytes;
    private int messages;
  }

  /**
   * Nothing waits.
   *
   * @param maxBytes of all messages; a member may have one above it
   * @param isMember senders that are none share what one member may have
   */
  public PeerBacklog(long maxBytes, Predicate<NodeId> isMember) {
    this.maxBytes = maxBytes;
    this.isMember = isMember;
  }

  /**
   * Takes space for a message.
   *
   * @param size of what it carries, in bytes
   * @return to be run once when the message is handled, from any thread; null if it must be dropped
   */
  public synchronized @Nullable Runnable tryTake(NodeId from, long size) {
    boolean member = isMember.test(from);
    Sender sender = senders.computeIfAbsent(member ? from : NodeId.NONE, id -> new Sender());
    long all = size + MESSAGE_BYTES;
    boolean small = sender.bytes + all <= FREE_BYTES;
    boolean first = member && sender.messages == 0;
    if (sender.messages >= MOST_MESSAGES || !(small || first || bytes + all <= maxBytes)) {
      return null;
    }
    change(sender, all, 1);
    return () -> handled(sender, all);
  }

  private synchronized void handled(Sender sender, long all) {
    change(sender, -all, -1);
  }

  private void change(Sender sender, long more, int messages) {
    bytes += more;
    sender.bytes += more;
    sender.messages += messages;
  }

  /** Bytes that wait now. */
  public synchronized long bytes() {
    return bytes;
  }

  /** Most bytes that wait, but for one message of each member and 64 KiB of each. */
  public long maxBytes() {
    return maxBytes;
  }
}
