package io.troupe.edge.calls;

import io.troupe.metrics.WalSyncs;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.server.CallTrace;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.apache.pekko.http.javadsl.model.HttpHeader;

/** Creates the traces of calls. Thread-safe. */
public interface Tracing {
  /** Tracing is off: a call costs nothing. */
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
   * Starts the trace of a call.
   *
   * @param path of its method: {@code /etcdserverpb.KV/Put}
   * @param metadata its headers by their gRPC names; {@code traceparent} among them identifies the
   *     parent span
   * @return {@link CallTrace#NONE} if the call is not traced
   */
  CallTrace begin(String path, Iterable<HttpHeader> metadata);

  /**
   * Creates the traces of this member's part in calls to other members.
   *
   * @param syncs of this member's log
   * @param runs creates the spans, because an actor's thread must not
   */
  ForwardedTraces forwarded(WalSyncs syncs, Executor runs);

  /**
   * Sends unsent spans and releases all resources. After this, nothing is traced.
   *
   * @return completes when that is done, at the latest after {@code atMost}; never fails
   */
  CompletionStage<Void> close(Duration atMost);
}
