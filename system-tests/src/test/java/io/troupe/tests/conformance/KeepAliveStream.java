package io.troupe.tests.conformance;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.LeaseKeepAliveResponse;

/** One LeaseKeepAlive stream. */
final class KeepAliveStream implements AutoCloseable {
  private final ClientCall<LeaseKeepAliveRequest, LeaseKeepAliveResponse> call;
  private final StreamResponses<LeaseKeepAliveResponse> answers = new StreamResponses<>();
  private final StreamObserver<LeaseKeepAliveRequest> requests;

  KeepAliveStream(Channel channel) {
    this.call = channel.newCall(Api.KEEP_ALIVE, CallOptions.DEFAULT);
    this.requests = ClientCalls.asyncBidiStreamingCall(call, answers);
  }

  void send(long lease) {
    requests.onNext(LeaseKeepAliveRequest.newBuilder().setID(lease).build());
  }

  LeaseKeepAliveResponse next() {
    return answers.next();
  }

  LeaseKeepAliveResponse renew(long lease) {
    send(lease);
    return next();
  }

  /** Closes the client side and returns the status of the server. */
  Status finish() {
    requests.onCompleted();
    return answers.end();
  }

  @Override
  public void close() {
    call.cancel("test is over", null);
  }
}
