package io.troupe.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.SnapshotRequest;
import io.troupe.grpc.api.SnapshotResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Receives the stream of Maintenance.Snapshot. */
public final class SnapshotStream {
  private static final long TIMEOUT_HOURS = 2;

  /** Takes each message, on the thread of the connection. */
  private interface Sink {
    void accept(Reply message) throws IOException;
  }

  private SnapshotStream() {}

  /**
   * Receives a snapshot and drops it.
   *
   * @return bytes of the messages
   * @throws IllegalStateException if the stream ends with an error
   */
  static long discard(Connections connections) {
    return receive(connections, EtcdMethod.SNAPSHOT, message -> {});
  }

  /**
   * Receives a snapshot into a file, with the checksum at its end that {@code snapshot restore}
   * needs.
   *
   * @throws IllegalStateException if the stream ends with an error
   */
  public static void save(Connections connections, Path file) {
    try (OutputStream out = Files.newOutputStream(file)) {
      long unused =
          receive(connections, EtcdMethod.SNAPSHOT_KEEP, message -> blob(message).writeTo(out));
    } catch (IOException e) {
      throw new UncheckedIOException("write " + file, e);
    }
  }

  private static com.google.protobuf.ByteString blob(Reply message)
      throws InvalidProtocolBufferException {
    return SnapshotResponse.parseFrom(message.body()).getBlob();
  }

  private static long receive(Connections connections, EtcdMethod method, Sink sink) {
    CompletableFuture<Long> received = new CompletableFuture<>();
    ClientCall<byte[], Reply> call =
        connections.start(
            0,
            method,
            new ClientCall.Listener<>() {
              private long bytes;

              @Override
              public void onMessage(Reply message) {
                bytes += message.size();
                try {
                  sink.accept(message);
                } catch (IOException e) {
                  received.completeExceptionally(e);
                }
              }

              @Override
              public void onClose(Status status, Metadata trailers) {
                if (status.isOk()) {
                  received.complete(bytes);
                } else {
                  received.completeExceptionally(status.asRuntimeException());
                }
              }
            });
    call.request(Integer.MAX_VALUE);
    call.sendMessage(SnapshotRequest.getDefaultInstance().toByteArray());
    call.halfClose();
    try {
      return received.get(TIMEOUT_HOURS, TimeUnit.HOURS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted during a snapshot", e);
    } catch (ExecutionException | TimeoutException e) {
      call.cancel("failed", e);
      throw new IllegalStateException("snapshot: " + e, e);
    }
  }
}
