package io.troupe.protocol;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;

/**
 * A piece of an encoded {@link PeerEnvelope} that is too long for one frame. The pieces of a
 * message follow each other in order, without other pieces of the same sender between them.
 *
 * @param clusterId cluster of the sender
 * @param from sender
 * @param to receiver
 * @param message distinguishes messages of one sender
 * @param total length of the whole message in bytes
 * @param offset position of this piece in the message
 * @param data the piece, not empty
 */
public record PeerFragment(
    long clusterId, NodeId from, NodeId to, long message, int total, int offset, Bytes data)
    implements PeerFrame {
  /** Checks that the piece lies inside the message. */
  public PeerFragment {
    if (offset < 0 || data.isEmpty() || data.length() > total - offset) {
      throw new IllegalArgumentException(
          "piece of " + data.length() + " bytes at " + offset + " of " + total);
    }
  }
}
