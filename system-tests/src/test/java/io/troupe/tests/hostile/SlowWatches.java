package io.troupe.tests.hostile;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.tests.malformed.Http2Bytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Watch streams whose client reads no event, and puts of large values that all of them watch. */
final class SlowWatches implements Attack {
  private static final String PREFIX = "slow/";
  private static final int KEYS = 16;
  private static final int PREV_KV_EACH = 4;
  private static final int DEADLINE_SECONDS = 60;

  /** Limit for all puts together; a put that is refused is repeated. */
  private static final int PUT_SECONDS = 20;

  private final int connections;
  private final int streams;
  private final int puts;
  private final int bytes;
  private final int keys;

  /**
   * An attack.
   *
   * @param streams on each connection; every fourth asks for previous values
   * @param bytes of each value
   */
  SlowWatches(int connections, int streams, int puts, int bytes) {
    this(connections, streams, puts, bytes, 1);
  }

  private SlowWatches(int connections, int streams, int puts, int bytes, int keys) {
    this.connections = connections;
    this.streams = streams;
    this.puts = puts;
    this.bytes = bytes;
    this.keys = keys;
  }

  /**
   * Transactions that put many keys: a revision does not fit into one read of history.
   *
   * @param keys of each transaction
   * @param bytes of each value
   */
  static SlowWatches ofLargeRevisions(int connections, int streams, int txns, int keys, int bytes) {
    return new SlowWatches(connections, streams, txns, bytes, keys);
  }

  @Override
  public Held on(Target target) throws IOException {
    List<RawConnection> held = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      try {
        RawConnection connection = RawConnection.narrow(target);
        held.add(connection);
        watch(connection);
      } catch (SocketException closed) {
        // The member accepts no more.
      }
    }
    put(target);
    return () -> held.forEach(RawConnection::close);
  }

  /** Reads up to the first response of each stream, and nothing after that. */
  private void watch(RawConnection connection) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < streams; i++) {
      int stream = connection.nextStream();
      byte[] create = create(i % PREV_KV_EACH == 0).toByteArray();
      out.writeBytes(RawConnection.begin(stream, "/etcdserverpb.Watch/Watch"));
      byte[] framed = Http2Bytes.framed(0, create.length, create);
      out.writeBytes(Http2Bytes.frame(Http2Bytes.DATA, 0, stream, framed));
    }
    connection.write(out.toByteArray());
    Set<Integer> answered = new HashSet<>();
    while (answered.size() < streams) {
      Optional<RawConnection.Frame> frame = connection.read();
      if (frame.isEmpty()) {
        return;
      }
      if (frame.get().type() == Http2Bytes.DATA || frame.get().endsStream()) {
        answered.add(frame.get().stream());
      }
    }
  }

  private static WatchRequest create(boolean prevKv) {
    return WatchRequest.newBuilder()
        .setCreateRequest(
            WatchCreateRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(PREFIX))
                .setRangeEnd(ByteString.copyFromUtf8(PREFIX + "~"))
                .setPrevKv(prevKv))
        .build();
  }

  private static PutRequest put(String key, ByteString value) {
    return PutRequest.newBuilder().setKey(ByteString.copyFromUtf8(key)).setValue(value).build();
  }

  private void put(Target target) {
    ByteString value = ByteString.copyFrom(new byte[bytes]);
    ManagedChannel channel = target.channel();
    Map<Status.Code, Integer> refused = new EnumMap<>(Status.Code.class);
    try {
      int done = 0;
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PUT_SECONDS);
      while (done < puts && System.nanoTime() < until) {
        try {
          KVGrpc.KVBlockingStub kv =
              KVGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
          if (keys == 1) {
            kv.put(put(PREFIX + done % KEYS, value));
          } else {
            TxnRequest.Builder txn = TxnRequest.newBuilder();
            for (int key = 0; key < keys; key++) {
              txn.addSuccess(RequestOp.newBuilder().setRequestPut(put(PREFIX + key, value)));
            }
            kv.txn(txn.build());
          }
          done++;
        } catch (StatusRuntimeException failed) {
          refused.merge(failed.getStatus().getCode(), 1, Integer::sum);
        }
      }
      System.out.println("attacker: puts=" + done + " refused=" + refused);
    } finally {
      channel.shutdownNow();
    }
  }
}
