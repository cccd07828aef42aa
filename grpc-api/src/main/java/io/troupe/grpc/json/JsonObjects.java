package io.troupe.grpc.json;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a sequence of bytes into the JSON objects in it, with any white space between them. Checks
 * braces and strings alone: whether an object is right shows when it is parsed. Not thread-safe.
 */
public final class JsonObjects {
  private final long maxBytes;
  private ByteArrayOutputStream object = new ByteArrayOutputStream();
  private byte[] input = new byte[0];
  private int at;
  private int depth;
  private boolean inString;
  private boolean escaped;

  /**
   * Nothing was given yet.
   *
   * @param maxBytes of one object
   */
  public JsonObjects(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Adds input; what was given before must have been taken by {@link #next}. */
  public void give(byte[] bytes) {
    input = bytes;
    at = 0;
  }

  /** Drops all input; nothing may be given after this. */
  public void clear() {
    object = new ByteArrayOutputStream(0);
    input = new byte[0];
    at = 0;
  }

  /** Bytes of input that are not taken yet. */
  public long held() {
    return object.size() + (long) (input.length - at);
  }

  /** True if input stopped inside of an object. */
  public boolean isInside() {
    return depth > 0;
  }

  /**
   * The next whole object, or null if more input is needed.
   *
   * @throws GrpcException INVALID_ARGUMENT if something else stands where an object should begin,
   *     RESOURCE_EXHAUSTED if one is too large
   */
  public @Nullable Bytes next() {
    while (at < input.length) {
      byte b = input[at++];
      if (depth == 0) {
        if (b == ' ' || b == '\t' || b == '\n' || b == '\r') {
          continue;
        }
        if (b != '{') {
          throw JsonMessages.malformed(
              "invalid character '" + (char) (b & 0xff) + "' where a JSON object should begin");
        }
      }
      if (object.size() >= maxBytes) {
        throw new GrpcException(
            GrpcStatus.RESOURCE_EXHAUSTED,
            "received message larger than max (" + (object.size() + 1L) + " vs. " + maxBytes + ")");
      }
      object.write(b);
      look(b);
      if (depth == 0) {
        Bytes whole = Bytes.wrap(object.toByteArray());
        object.reset();
        return whole;
      }
    }
    return null;
  }

  private void look(byte b) {
    if (escaped) {
      escaped = false;
    } else if (inString) {
      escaped = b == '\\';
      inString = b != '"';
    } else {
      switch (b) {
        case '"' -> inString = true;
        case '{', '[' -> depth++;
        case '}', ']' -> depth--;
        default -> {
          // Numbers and names.
        }
      }
    }
  }
}
