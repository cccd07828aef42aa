package io.troupe.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchRequest;
import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.stream.javadsl.Source;

/**
 * The requests that members serve while they train: what clients and a kube-apiserver send most.
 * Each kind comes often enough that the JVM compiles the methods that serve it.
 */
final class TrainingRequests {
  /** Kinds of requests with one response. */
  static final int KINDS = 10;

  private static final int KEYS = 10;
  private static final ByteString FIRST_KEY = ByteString.copyFromUtf8("training/");
  private static final ByteString END = ByteString.copyFromUtf8("training0");
  private static final ByteString VALUE = ByteString.copyFrom(new byte[256]);
  private static final long LEASE_SECONDS = 60;

  /** Rounds between a write and the read at its revision. */
  private static final int IN_PAST = 10;

  private static final ContentType GRPC =
      MediaTypes.applicationBinary("grpc", false).toContentType();

  private TrainingRequests() {}

  /**
   * Returns requests with one response each.
   *
   * @param rounds how often each of the {@link #KINDS} kinds is sent, at least 1
   * @param lease a lease that exists when the first request is served
   */
  static Stream<HttpRequest> unary(int rounds, long lease) {
    return IntStream.range(0, rounds).boxed().flatMap(number -> round(number, lease));
  }

  private static Stream<HttpRequest> round(int number, long lease) {
    ByteString key = key(number);
    RangeRequest get = RangeRequest.newBuilder().setKey(key).build();
    RangeRequest page =
        RangeRequest.newBuilder().setKey(FIRST_KEY).setRangeEnd(END).setLimit(5).build();
    PutRequest put = PutRequest.newBuilder().setKey(key).setValue(VALUE).build();
    // Each round before has added a revision, so this one is in the past.
    long past = Math.max(1, number - IN_PAST);
    return Stream.of(
        request("KV/Put", put),
        request("KV/Range", get),
        request("KV/Range", get.toBuilder().setSerializable(true).build()),
        request("KV/Range", page),
        request("KV/Range", page.toBuilder().setCountOnly(true).build()),
        request("KV/Range", page.toBuilder().setRevision(past).build()),
        request("KV/Txn", create(key(number + 1), 0)),
        request("KV/Txn", update(put, get)),
        request("KV/DeleteRange", DeleteRangeRequest.newBuilder().setKey(key(number + 1)).build()),
        request("KV/Txn", create(event(number, lease), lease)));
  }

  private static ByteString key(int number) {
    return FIRST_KEY.concat(ByteString.copyFromUtf8(Integer.toString(number % KEYS)));
  }

  /** Returns a key of its own for each round and lease, as events have in Kubernetes. */
  private static ByteString event(int number, long lease) {
    return FIRST_KEY.concat(ByteString.copyFromUtf8("event-" + lease + "-" + number));
  }

  /** Returns a transaction that creates a key, if it does not exist. */
  private static TxnRequest create(ByteString key, long lease) {
    return TxnRequest.newBuilder()
        .addCompare(
            Compare.newBuilder()
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.EQUAL)
                .setKey(key)
                .setModRevision(0))
        .addSuccess(
            RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder().setKey(key).setValue(VALUE).setLease(lease)))
        .build();
  }

  /** Returns a transaction that changes a key that exists, or else reads it. */
  private static TxnRequest update(PutRequest put, RangeRequest get) {
    return TxnRequest.newBuilder()
        .addCompare(
            Compare.newBuilder()
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.GREATER)
                .setKey(put.getKey())
                .setModRevision(0))
        .addSuccess(RequestOp.newBuilder().setRequestPut(put))
        .addFailure(RequestOp.newBuilder().setRequestRange(get))
        .build();
  }

  /**
   * Returns a request for a lease.
   *
   * @param lease a positive number that no other lease of the cluster has
   */
  static HttpRequest grant(long lease) {
    return request(
        "Lease/LeaseGrant",
        LeaseGrantRequest.newBuilder().setID(lease).setTTL(LEASE_SECONDS).build());
  }

  /**
   * Returns a stream that renews a lease and then stays open.
   *
   * @param count renewals, at least 1
   */
  static HttpRequest renewals(long lease, int count) {
    return stream(
        "Lease/LeaseKeepAlive",
        Source.repeat(LeaseKeepAliveRequest.newBuilder().setID(lease).build()).take(count));
  }

  /** Returns a watch on all keys of these requests, as an apiserver creates it; it stays open. */
  static HttpRequest watch() {
    return stream(
        "Watch/Watch",
        Source.single(
            WatchRequest.newBuilder()
                .setCreateRequest(
                    WatchCreateRequest.newBuilder()
                        .setKey(FIRST_KEY)
                        .setRangeEnd(END)
                        .setPrevKv(true)
                        .setProgressNotify(true))
                .build()));
  }

  private static HttpRequest request(String method, MessageLite message) {
    return to(method).withEntity(HttpEntities.create(GRPC, frame(message)));
  }

  private static HttpRequest stream(String method, Source<? extends MessageLite, ?> messages) {
    return to(method)
        .withEntity(
            HttpEntities.createChunked(
                GRPC,
                messages
                    .map(message -> org.apache.pekko.util.ByteString.fromArray(frame(message)))
                    .concat(Source.never())));
  }

  private static HttpRequest to(String method) {
    return HttpRequest.POST("/etcdserverpb." + method);
  }

  /** Returns gRPC's frame of a message: not compressed, four bytes of length, then the message. */
  private static byte[] frame(MessageLite message) {
    byte[] body = message.toByteArray();
    return ByteBuffer.allocate(5 + body.length).put((byte) 0).putInt(body.length).put(body).array();
  }
}
