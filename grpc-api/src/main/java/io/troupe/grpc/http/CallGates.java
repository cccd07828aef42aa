package io.troupe.grpc.http;

import io.troupe.grpc.service.Call;
import io.troupe.metrics.RpcMetrics;
import io.troupe.model.MemoryBudget;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.stream.javadsl.Source;

/** What every call passes before it begins, whichever way it came: gRPC or JSON. Thread-safe. */
final class CallGates {
  private final MemoryBudget memory;
  private final LearnerGate learner;
  private final CorruptGate corrupt;
  private final LeaderWatch leader;
  private final RpcMetrics metrics;

  CallGates(
      MemoryBudget memory,
      LearnerGate learner,
      CorruptGate corrupt,
      LeaderWatch leader,
      RpcMetrics metrics) {
    this.memory = memory;
    this.learner = learner;
    this.corrupt = corrupt;
    this.leader = leader;
    this.metrics = metrics;
  }

  /**
   * Lets a call through.
   *
   * @param path of the gRPC method
   * @param metadata headers by their gRPC names
   * @param visitor who sent it
   * @throws io.troupe.protocol.RefusedException if it may not begin
   */
  Call admit(String path, boolean stream, Iterable<HttpHeader> metadata, Visitor visitor) {
    learner.require(path);
    corrupt.require(path);
    Call call = CallMetadata.of(metadata, visitor.certificateName(), memory.share());
    metrics.clientRequest(stream, CallMetadata.apiVersion(metadata));
    leader.require(call);
    return call;
  }

  /** The answers of a call that is a stream; they end when a gate closes. */
  <T> Source<T, NotUsed> guarded(Source<T, NotUsed> answers, String path, Call call) {
    return corrupt.guarded(leader.guarded(answers, call), path);
  }
}
