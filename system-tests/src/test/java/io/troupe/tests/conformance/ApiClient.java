package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.CompactionResponse;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.LeaseRevokeResponse;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RangeStreamResponse;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A connection that sends exactly the given messages and returns exactly the received ones. */
final class ApiClient implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 30;

  private final ManagedChannel channel;

  ApiClient(String target) {
    this.channel =
        NettyChannelBuilder.forTarget(target)
            .usePlaintext()
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .build();
  }

  /** Uses a connection that the caller created; closes it. */
  ApiClient(ManagedChannel channel) {
    this.channel = channel;
  }

  ManagedChannel channel() {
    return channel;
  }

  private static CallOptions options() {
    return CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  <Q, R> R call(MethodDescriptor<Q, R> method, Q request) {
    return ClientCalls.blockingUnaryCall(channel, method, options(), request);
  }

  <Q, R> R call(MethodDescriptor<Q, R> method, Q request, Metadata metadata) {
    return ClientCalls.blockingUnaryCall(
        io.grpc.ClientInterceptors.intercept(
            channel, MetadataUtils.newAttachHeadersInterceptor(metadata)),
        method,
        options(),
        request);
  }

  /** All messages of a server stream that ends with OK. */
  <Q, R> List<R> stream(MethodDescriptor<Q, R> method, Q request) {
    List<R> all = new ArrayList<>();
    ClientCalls.blockingServerStreamingCall(channel, method, options(), request)
        .forEachRemaining(all::add);
    return all;
  }

  /** Checks that a call fails with exactly this code and text. */
  <Q, R> void refused(MethodDescriptor<Q, R> method, Q request, Status.Code code, String text) {
    try {
      R answer =
          method.getType().serverSendsOneMessage()
              ? call(method, request)
              : stream(method, request).get(0);
      fail("expected %s \"%s\" but got %s", code, text, answer);
    } catch (StatusRuntimeException refusal) {
      assertThat(refusal.getStatus().getDescription()).isEqualTo(text);
      assertThat(refusal.getStatus().getCode()).isEqualTo(code);
    }
  }

  PutResponse put(String key, String value) {
    return put(Requests.put(key, value));
  }

  PutResponse put(PutRequest.Builder request) {
    return call(Api.PUT, request.build());
  }

  RangeResponse get(String key) {
    return range(Requests.get(key));
  }

  RangeResponse range(RangeRequest.Builder request) {
    return call(Api.RANGE, request.build());
  }

  /** The only record of a key that exists. */
  KeyValue record(String key) {
    RangeResponse response = get(key);
    assertThat(response.getKvsList()).hasSize(1);
    return response.getKvs(0);
  }

  List<RangeStreamResponse> rangeStream(RangeRequest.Builder request) {
    return stream(Api.RANGE_STREAM, request.build());
  }

  DeleteRangeResponse delete(DeleteRangeRequest.Builder request) {
    return call(Api.DELETE, request.build());
  }

  TxnResponse txn(TxnRequest.Builder request) {
    return call(Api.TXN, request.build());
  }

  CompactionResponse compact(long revision) {
    return call(
        Api.COMPACT,
        CompactionRequest.newBuilder().setRevision(revision).setPhysical(true).build());
  }

  LeaseGrantResponse grant(long ttl) {
    return call(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(ttl).build());
  }

  LeaseRevokeResponse revoke(long lease) {
    return call(Api.REVOKE, LeaseRevokeRequest.newBuilder().setID(lease).build());
  }

  /** The current revision of the store. */
  long revision() {
    return get("no such key").getHeader().getRevision();
  }

  WatchStream watch() {
    return new WatchStream(channel);
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
