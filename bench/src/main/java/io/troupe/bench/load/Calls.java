package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.RangeRequest;
import java.io.IOException;

/**
 * Single calls that prepare or check a measurement. All throw IllegalStateException if the call
 * fails or its response has another form.
 */
final class Calls {
  private static final long TIMEOUT_MS = 600_000;

  private Calls() {}

  static RangeReply range(Connections connections, RangeRequest request) {
    try {
      return RangeReply.read(
          connections.call(EtcdMethod.RANGE_KEEP, request.toByteArray(), TIMEOUT_MS).body());
    } catch (IOException e) {
      throw new IllegalStateException("not a range response", e);
    }
  }

  /** The current revision. */
  static long revision(Connections connections) {
    RangeRequest one =
        RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8("revision")).build();
    return range(connections, one).revision();
  }

  /** Deletes all keys with a prefix that ends in '/'. */
  static void deletePrefix(Connections connections, ByteString prefix) {
    byte[] request =
        DeleteRangeRequest.newBuilder()
            .setKey(prefix)
            .setRangeEnd(afterPrefix(prefix))
            .build()
            .toByteArray();
    connections.call(EtcdMethod.DELETE_RANGE, request, TIMEOUT_MS);
  }

  /** The first key after all keys with this prefix, which ends in a byte from 0 to 126. */
  static ByteString afterPrefix(ByteString prefix) {
    int last = prefix.size() - 1;
    byte[] next = {(byte) (prefix.byteAt(last) + 1)};
    return prefix.substring(0, last).concat(ByteString.copyFrom(next));
  }

  /** Grants a lease and returns its ID. */
  static long grant(Connections connections, long ttlSeconds) {
    byte[] request = LeaseGrantRequest.newBuilder().setTTL(ttlSeconds).build().toByteArray();
    try {
      return LeaseGrantResponse.parseFrom(
              connections.call(EtcdMethod.LEASE_GRANT, request, TIMEOUT_MS).body())
          .getID();
    } catch (IOException e) {
      throw new IllegalStateException("not a response to a lease grant", e);
    }
  }
}
