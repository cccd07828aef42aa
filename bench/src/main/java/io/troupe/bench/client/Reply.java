package io.troupe.bench.client;

import com.google.protobuf.ByteString;

/**
 * One message from the server.
 *
 * @param size bytes of the message
 * @param body the message, or empty if the method does not keep it
 */
public record Reply(int size, ByteString body) {
  /** The reply of a call before its message has arrived. */
  public static final Reply NONE = new Reply(0, ByteString.EMPTY);
}
