package io.troupe.node.tracing;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/**
 * A collector for OTLP over gRPC. It reads the messages by their field numbers
 * (opentelemetry-proto, trace/v1 and collector/trace/v1), so it shares no code with what it tests.
 */
public final class TestCollector implements AutoCloseable {
  private static final String SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService";
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final List<Span> spans = new CopyOnWriteArrayList<>();
  private final Server server;

  /**
   * A span.
   *
   * @param traceId in hexadecimal, as are the other ids
   * @param parentId empty for the first of its trace
   * @param kind 1: inside, 2: of a server
   * @param startNanos since 1970
   * @param attributes numbers as text
   * @param status 0: not set, 2: an error
   * @param resource attributes of the sender
   */
  public record Span(
      String traceId,
      String spanId,
      String parentId,
      String name,
      long kind,
      long startNanos,
      long endNanos,
      Map<String, String> attributes,
      long status,
      Map<String, String> resource) {}

  private TestCollector() {
    MethodDescriptor<byte[], byte[]> export =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Export"))
            .setRequestMarshaller(Raw.INSTANCE)
            .setResponseMarshaller(Raw.INSTANCE)
            .build();
    this.server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(
                ServerServiceDefinition.builder(SERVICE)
                    .addMethod(export, ServerCalls.asyncUnaryCall(this::export))
                    .build())
            .build();
  }

  /** Listens on a free port of this machine. */
  public static TestCollector start() {
    TestCollector collector = new TestCollector();
    try {
      collector.server.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return collector;
  }

  /** host:port. */
  public String address() {
    return "127.0.0.1:" + server.getPort();
  }

  /** The received spans. */
  public List<Span> spans() {
    return List.copyOf(spans);
  }

  /** Waits for the first matching span. */
  public Span await(Predicate<Span> meant) {
    Awaitility.await()
        .alias("a span among those that came")
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> spans.stream().anyMatch(meant));
    return spans.stream().filter(meant).findFirst().orElseThrow();
  }

  /** The direct children of a span, in the order of their start. */
  public List<Span> below(Span parent) {
    return spans.stream()
        .filter(span -> span.parentId().equals(parent.spanId()))
        .filter(span -> span.traceId().equals(parent.traceId()))
        .sorted(Comparator.comparingLong(Span::startNanos).thenComparingLong(Span::endNanos))
        .toList();
  }

  private void export(byte[] request, StreamObserver<byte[]> answer) {
    try {
      for (UnknownFieldSet ofOneSender : messages(UnknownFieldSet.parseFrom(request), 1)) {
        Map<String, String> resource = new HashMap<>();
        for (UnknownFieldSet sender : messages(ofOneSender, 1)) {
          resource.putAll(attributes(sender, 1));
        }
        for (UnknownFieldSet scope : messages(ofOneSender, 2)) {
          for (UnknownFieldSet span : messages(scope, 2)) {
            spans.add(span(span, resource));
          }
        }
      }
    } catch (InvalidProtocolBufferException malformed) {
      answer.onError(malformed);
      return;
    }
    answer.onNext(new byte[0]);
    answer.onCompleted();
  }

  private static Span span(UnknownFieldSet span, Map<String, String> resource)
      throws InvalidProtocolBufferException {
    long status = 0;
    for (UnknownFieldSet one : messages(span, 15)) {
      status = number(one, 3);
    }
    return new Span(
        hex(span, 1),
        hex(span, 2),
        hex(span, 4),
        text(span, 5),
        number(span, 6),
        span.getField(7).getFixed64List().get(0),
        span.getField(8).getFixed64List().get(0),
        attributes(span, 9),
        status,
        Map.copyOf(resource));
  }

  private static Map<String, String> attributes(UnknownFieldSet of, int field)
      throws InvalidProtocolBufferException {
    Map<String, String> attributes = new HashMap<>();
    for (UnknownFieldSet pair : messages(of, field)) {
      for (UnknownFieldSet value : messages(pair, 2)) {
        attributes.put(
            text(pair, 1), value.hasField(3) ? Long.toString(number(value, 3)) : text(value, 1));
      }
    }
    return attributes;
  }

  private static List<UnknownFieldSet> messages(UnknownFieldSet of, int field)
      throws InvalidProtocolBufferException {
    List<UnknownFieldSet> messages = new ArrayList<>();
    for (ByteString bytes : of.getField(field).getLengthDelimitedList()) {
      messages.add(UnknownFieldSet.parseFrom(bytes));
    }
    return messages;
  }

  private static ByteString bytes(UnknownFieldSet of, int field) {
    List<ByteString> all = of.getField(field).getLengthDelimitedList();
    return all.isEmpty() ? ByteString.EMPTY : all.get(0);
  }

  private static String text(UnknownFieldSet of, int field) {
    return bytes(of, field).toStringUtf8();
  }

  private static String hex(UnknownFieldSet of, int field) {
    return HexFormat.of().formatHex(bytes(of, field).toByteArray());
  }

  private static long number(UnknownFieldSet of, int field) {
    List<Long> all = of.getField(field).getVarintList();
    return all.isEmpty() ? 0 : all.get(0);
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private enum Raw implements Marshaller<byte[]> {
    INSTANCE;

    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream message) {
      try {
        return message.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
