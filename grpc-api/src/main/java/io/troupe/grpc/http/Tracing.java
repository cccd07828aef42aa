package io.troupe.grpc.http;

import io.troupe.grpc.service.CallTrace;
import io.troupe.metrics.WalSyncs;
import io.troupe.protocol.ForwardedTraces;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.apache.pekko.http.javadsl.model.HttpHeader;

/** Where calls are traced to. Thread-safe. */
public interface Tracing {
  /** Nowhere: costs a call nothing. */
  Tracing OFF =
      new Tracing() {
        @Override
        public CallTrace begin(String path, Iterable<HttpHeader> metadata) {
          return CallTrace.NONE;
        }

        @Override
        public ForwardedTraces forwarded(WalSyncs syncs, Executor runs) {
          return ForwardedTraces.NONE;
        }

        @Override
        public CompletionStage<Void> close(Duration atMost) {
          return CompletableFuture.completedFuture(null);
        }
      };

  /**
   * A call begins now.
   *
   * @param path of its method: {@code /etcdserverpb.KV/Put}
   * @param metadata its headers by their gRPC names; {@code traceparent} among them says whose part
   *     it is
   * @return {@link CallTrace#NONE} if it is not to be traced
   */
  CallTrace begin(String path, Iterable<HttpHeader> metadata);

  /**
   * Where this member's part in calls to other members is traced to.
   *
   * @param syncs of this member's log
   * @param runs what it takes to make spans: not for a room's thread
   */
  ForwardedTraces forwarded(WalSyncs syncs, Executor runs);

  /**
   * Sends what is not sent yet and releases everything. Nothing is traced from now on.
   *
   * @return completes when that is done, at the latest after {@code atMost}; never fails
   */
  CompletionStage<Void> close(Duration atMost);
}
