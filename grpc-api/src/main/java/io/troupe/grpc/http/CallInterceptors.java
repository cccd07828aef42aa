package io.troupe.grpc.http;

import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.service.Call;
import io.troupe.grpc.service.CallTrace;
import io.troupe.metrics.RpcMetrics;
import io.troupe.model.MemoryBudget;
import io.troupe.protocol.RefusedException;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.stream.javadsl.Source;

/** What every call passes before it begins, whichever way it came: gRPC or JSON. Thread-safe. */
final class CallInterceptors {
  private final LearnerInterceptor learner;
  private final CorruptionInterceptor corrupt;
  private final RequireLeaderInterceptor leader;
  private final RpcMetrics metrics;
  private final Tracing tracing;

  CallInterceptors(
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
   * Lets a call through. Its trace begins here; that of a refused one ends here too.
   *
   * @param path of the gRPC method
   * @param metadata headers by their gRPC names
   * @param visitor who sent it
   * @param on stream of HTTP/2 that it came on; {@link ConnectionState#NO_STREAM} if none
   * @throws RefusedException if it may not begin
   */
  Call admit(String path, boolean stream, Iterable<HttpHeader> metadata, ClientInfo visitor, int on) {
    CallTrace trace = tracing.begin(path, metadata);
    try {
      learner.require(path);
      corrupt.require(path);
      MemoryBudget.Share memory = visitor.conversation().share(on);
      Call call;
      try {
        call =
            CallMetadata.of(
                metadata,
                visitor.certificateName(),
                memory,
                () -> !visitor.conversation().awaits(on),
                trace);
        metrics.clientRequest(stream, call.apiVersion());
        leader.require(call);
      } catch (RuntimeException refused) {
        visitor.conversation().sent(memory);
        throw refused;
      }
      return call;
    } catch (RefusedException refused) {
      trace.ended(GrpcErrors.of(refused).code());
      throw refused;
    }
  }

  /** The answers of a call that is a stream; they end when a gate closes. */
  <T> Source<T, NotUsed> guarded(Source<T, NotUsed> answers, String path, Call call) {
    return corrupt.guarded(leader.guarded(answers, call), path);
  }
}
