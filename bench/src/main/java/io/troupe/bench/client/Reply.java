package io.troupe.bench.client;

import com.google.protobuf.ByteString;

/**
 * One message from the server.
 *
 * @param size bytes of the message
 * @param body the message, or empty if the method was asked to drop it
 */
public record Reply(int size, ByteString body) {
  /** What a call has before its message came. */
  public static final Reply NONE = new Reply(0, ByteString.EMPTY);
}
