package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.handler.codec.http2.Http2Headers;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transport statements of section 1, size limits (X15, T3), undecodable input. */
class TransportConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  /** max-request-bytes and the allowance of a message above it (T3). */
  private static final int MAX_REQUEST = 1_572_864;

  private static final int MAX_MESSAGE = MAX_REQUEST + 524_288;

  private final ApiClient client = STORE.client();

  private static final class RawBytes implements Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Sends bytes that need not be a valid message. */
  private Status sendRaw(MethodType type, String method, byte[] request) {
    MethodDescriptor<byte[], byte[]> descriptor =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(type)
            .setFullMethodName(method)
            .setRequestMarshaller(new RawBytes())
            .setResponseMarshaller(new RawBytes())
            .build();
    StreamResponses<byte[]> answers = new StreamResponses<>();
    StreamObserver<byte[]> requests =
        ClientCalls.asyncBidiStreamingCall(
            client.channel().newCall(descriptor, CallOptions.DEFAULT), answers);
    requests.onNext(request);
    if (type.clientSendsOneMessage()) {
      requests.onCompleted();
    }
    return answers.end();
  }

  private static PutRequest sized(String key, int messageBytes) {
    PutRequest.Builder request = put(key, "");
    int value = messageBytes - request.build().getSerializedSize();
    // the value's own tag and length take bytes too
    request.setValue(Requests.filled(value - 4));
    assertThat(request.build().getSerializedSize()).isEqualTo(messageBytes);
    return request.build();
  }

  @Test
  void requestsAboveMaxRequestBytesAreRefused_X15() {
    client.call(Api.PUT, sized(STORE.key("a"), MAX_REQUEST - 512));
    for (int size : new int[] {MAX_REQUEST + 1, MAX_MESSAGE}) {
      client.refused(
          Api.PUT,
          sized(STORE.key("b"), size),
          Code.INVALID_ARGUMENT,
          "etcdserver: request is too large");
    }
    assertThat(client.get(STORE.key("b")).getCount()).isZero();
  }

  /** As grpc-go sends it: one header block that ends the stream, without a length. */
  @ParameterizedTest
  @ValueSource(strings = {"etcdserverpb.KV/Range", "etcdserverpb.KV/Unknown"})
  void errorIsOneBlockOfHeadersWithoutContentLength(String method) {
    try (RawHttp2 raw = RawHttp2.connect(STORE.target())) {
      int stream = raw.call(method, Map.of());
      raw.message(stream, new byte[0], true);
      RawHttp2.Frame frame = raw.await(f -> f.stream() == stream && f.type() == RawHttp2.HEADERS);
      Http2Headers headers = Objects.requireNonNull(frame.headers());
      assertThat(frame.isEnd()).as("no other frame").isTrue();
      assertThat(headers.get("grpc-status")).hasToString(method.endsWith("Range") ? "3" : "12");
      assertThat(headers.get("content-type").toString()).startsWith("application/grpc");
      assertThat(headers.contains("content-length")).isFalse();
    }
  }

  @Test
  void messagesAboveReceiveLimitAreRefusedByTransport_T3() {
    client.refused(
        Api.PUT,
        sized(STORE.key("a"), MAX_MESSAGE + 1),
        Code.RESOURCE_EXHAUSTED,
        "grpc: received message larger than max ("
            + (MAX_MESSAGE + 1)
            + " vs. "
            + MAX_MESSAGE
            + ")");
    client.put(STORE.key("a"), "the connection still works");
  }

  @Test
  void manyStreamsOnOneConnection_T3() {
    List<WatchStream> streams = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      WatchStream stream = client.watch();
      streams.add(stream);
      stream.ask(Requests.watch(STORE.key("a")));
    }
    streams.forEach(stream -> assertThat(stream.next().getCreated()).isTrue());
    client.put(STORE.key("a"), "1");
    streams.forEach(stream -> assertThat(stream.next().getEventsCount()).isEqualTo(1));
    streams.forEach(WatchStream::close);
  }

  @Test
  void metadataIsIgnoredWithoutAuth_T5() {
    Metadata metadata = new Metadata();
    metadata.put(Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER), "no such token");
    metadata.put(Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER), "true");
    metadata.put(Metadata.Key.of("client-api-version", Metadata.ASCII_STRING_MARSHALLER), "3.7");
    assertThat(client.call(Api.PUT, put(STORE.key("a"), "1").build(), metadata).hasHeader())
        .isTrue();
    Metadata bearer = new Metadata();
    bearer.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer abc");
    assertThat(client.call(Api.RANGE, get(STORE.key("a")).build(), bearer).getCount()).isEqualTo(1);
  }

  @Test
  void unknownFieldsAreIgnored_T8() {
    UnknownFieldSet unknown =
        UnknownFieldSet.newBuilder()
            .addField(
                999,
                UnknownFieldSet.Field.newBuilder()
                    .addVarint(7)
                    .addLengthDelimited(ByteString.copyFromUtf8("from the future"))
                    .build())
            .build();
    client.call(Api.PUT, put(STORE.key("a"), "1").setUnknownFields(unknown).build());
    RangeResponse found =
        client.call(Api.RANGE, get(STORE.key("a")).setUnknownFields(unknown).build());
    assertThat(found.getKvs(0).getValue()).isEqualTo(bytes("1"));
  }

  @Test
  void unknownServicesAndMethodsAreUnimplemented() {
    client.refused(
        Api.unary(
            "etcdserverpb.KV",
            "Increment",
            RangeRequest.getDefaultInstance(),
            RangeResponse.getDefaultInstance()),
        get("a").build(),
        Code.UNIMPLEMENTED,
        "unknown method Increment for service etcdserverpb.KV");
    client.refused(
        Api.unary(
            "example.Nothing",
            "Range",
            RangeRequest.getDefaultInstance(),
            RangeResponse.getDefaultInstance()),
        get("a").build(),
        Code.UNIMPLEMENTED,
        "unknown service example.Nothing");
    client.refused(
        Api.unary(
            "grpc.reflection.v1.ServerReflection",
            "ServerReflectionInfo",
            RangeRequest.getDefaultInstance(),
            RangeResponse.getDefaultInstance()),
        get("a").build(),
        Code.UNIMPLEMENTED,
        "unknown service grpc.reflection.v1.ServerReflection");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "etcdserverpb.KV/Range",
        "etcdserverpb.KV/Put",
        "etcdserverpb.KV/DeleteRange",
        "etcdserverpb.KV/Txn",
        "etcdserverpb.KV/Compact",
        "etcdserverpb.Lease/LeaseGrant",
        "etcdserverpb.Maintenance/Alarm",
        "etcdserverpb.Cluster/MemberList"
      })
  void undecodableRequestsAreInternal(String method) {
    // field 1 with the reserved wire type 7
    Status status = sendRaw(MethodType.UNARY, method, new byte[] {0x0f, 1, 2});
    assertThat(status.getCode()).isEqualTo(Code.INTERNAL);
    assertThat(status.getDescription()).startsWith("grpc: error unmarshalling request: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"etcdserverpb.Watch/Watch", "etcdserverpb.Lease/LeaseKeepAlive"})
  void undecodableStreamRequestsEndStream(String method) {
    Status status = sendRaw(MethodType.BIDI_STREAMING, method, new byte[] {0x0f, 1, 2});
    assertThat(status.getCode()).isEqualTo(Code.INTERNAL);
  }

  @Test
  void invalidUtf8InStringIsInternal() {
    STORE.needs37();
    Status status =
        sendRaw(MethodType.UNARY, "grpc.health.v1.Health/Check", new byte[] {0x0a, 1, (byte) 0xff});
    assertThat(status.getCode()).isEqualTo(Code.INTERNAL);
    assertThat(status.getDescription()).startsWith("grpc: error unmarshalling request: ");
  }

  @Test
  void compressedRequestsAreUnderstood() {
    PutResponse done =
        ClientCalls.blockingUnaryCall(
            client.channel(),
            Api.PUT,
            CallOptions.DEFAULT.withCompression("gzip"),
            put(STORE.key("a"), "x".repeat(5000)).build());
    assertThat(done.getHeader().getRevision()).isPositive();
    assertThat(client.record(STORE.key("a")).getValue().size()).isEqualTo(5000);
  }

  @Test
  void concurrentCallsOnOneConnection() throws Exception {
    List<Future<RangeResponse>> calls = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      calls.add(
          ClientCalls.futureUnaryCall(
              client.channel().newCall(Api.RANGE, CallOptions.DEFAULT),
              get(STORE.key("a")).build()));
    }
    for (Future<RangeResponse> call : calls) {
      assertThat(call.get().getCount()).isZero();
    }
  }

  @Test
  void versionOverHttp1OnSamePort_H2() throws Exception {
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(URI.create("http://" + STORE.target() + "/version")).build(),
            HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type")).hasValue("application/json");
    assertThat(response.body()).contains("\"etcdserver\":\"3.", "\"etcdcluster\":\"3.");
  }
}
