package io.troupe.edge.calls;

import io.troupe.edge.connection.ClientInfo;
import io.troupe.edge.connection.ConnectionState;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.metrics.RpcMetrics;
import io.troupe.model.MemoryBudget;
import io.troupe.protocol.RefusedException;
import io.troupe.server.Call;
import io.troupe.server.CallTrace;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.stream.javadsl.Source;

/** The checks that each call passes before it starts, over gRPC or JSON. Thread-safe. */
public final class CallInterceptors {
  private final LearnerInterceptor learner;
  private final CorruptionInterceptor corrupt;
  private final RequireLeaderInterceptor leader;
  private final RpcMetrics metrics;
  private final Tracing tracing;

  public CallInterceptors(
      LearnerInterceptor learner,
      CorruptionInterceptor corrupt,
      RequireLeaderInterceptor leader,
      RpcMetrics metrics,
      Tracing tracing) {
    this.learner = learner;
    this.corrupt = corrupt;
    this.leader = leader;
    this.metrics = metrics;
    this.tracing = tracing;
  }

  /**
   * Admits a call and starts its trace; the trace of a refused call ends here too.
   *
   * @param path of the gRPC method
   * @param metadata headers by their gRPC names
   * @param clientInfo the client and its connection
   * @param on HTTP/2 stream of the request; {@link ConnectionState#NO_STREAM} if none
   * @throws RefusedException if the call must not start
   */
  public Call admit(
      String path, boolean stream, Iterable<HttpHeader> metadata, ClientInfo clientInfo, int on) {
    CallTrace trace = tracing.begin(path, metadata);
    try {
      learner.require(path);
      corrupt.require(path);
      MemoryBudget.Share memory = clientInfo.connection().share(on);
      Call call;
      try {
        call =
            CallMetadata.of(
                metadata,
                clientInfo.certificateName(),
                memory,
                () -> !clientInfo.connection().awaits(on),
                clientInfo.executor(),
                trace);
        metrics.clientRequest(stream, call.apiVersion());
        leader.require(call);
      } catch (RuntimeException refused) {
        clientInfo.connection().sent(memory);
        throw refused;
      }
      return call;
    } catch (RefusedException refused) {
      trace.ended(GrpcErrors.of(refused).code());
      throw refused;
    }
  }

  /** The responses of a streaming call; they fail when an interceptor stops serving the call. */
  public <T> Source<T, NotUsed> guarded(Source<T, NotUsed> responses, String path, Call call) {
    return corrupt.guarded(leader.guarded(responses, call), path);
  }
}
