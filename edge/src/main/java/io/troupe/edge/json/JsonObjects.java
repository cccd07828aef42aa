package io.troupe.edge.json;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Splits a sequence of bytes into the JSON objects in it, which any white space may separate.
 * Checks only braces and strings; the parser detects other errors. Not thread-safe.
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
   * Starts without input.
   *
   * @param maxBytes maximum size of one object
   */
  public JsonObjects(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Adds input; {@link #next} must have consumed all previous input. */
  public void give(byte[] bytes) {
    input = bytes;
    at = 0;
  }

  /** Drops all input; no input may be added after this. */
  public void clear() {
    object = new ByteArrayOutputStream(0);
    input = new byte[0];
    at = 0;
  }

  /** Bytes of input that {@link #next} has not returned yet. */
  public long held() {
    return object.size() + (long) (input.length - at);
  }

  /** True if the input stopped inside an object. */
  public boolean isInside() {
    return depth > 0;
  }

  /**
   * The next whole object, or null if more input is needed.
   *
   * @throws GrpcException INVALID_ARGUMENT if another character stands where an object must start,
   *     RESOURCE_EXHAUSTED if an object is too large
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
      scan(b);
      if (depth == 0) {
        Bytes whole = Bytes.wrap(object.toByteArray());
        object.reset();
        return whole;
      }
    }
    return null;
  }

  private void scan(byte b) {
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
