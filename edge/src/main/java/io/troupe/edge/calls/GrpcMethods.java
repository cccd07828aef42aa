package io.troupe.edge.calls;

import com.google.protobuf.Descriptors;
import com.google.protobuf.MessageLite;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.RpcMetrics;
import io.troupe.metrics.RpcMetrics.MethodMeter;
import io.troupe.model.Bytes;
import io.troupe.server.Call;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/** Maps paths to calls. Filled at start, then only read. */
public final class GrpcMethods {
  /** A call with one request and one response. */
  public interface Unary {
    /**
     * Handles a call.
     *
     * @param request the encoded request message
     * @throws IOException if the message cannot be decoded
     */
    CompletionStage<? extends MessageLite> call(Bytes request, Call call) throws IOException;
  }

  /** A call with a stream on at least one side. */
  public interface Streaming {
    /**
     * Handles a call.
     *
     * @param requests the encoded request messages; consumed at most once
     * @return whole frames
     */
    Source<ByteString, NotUsed> call(Source<Bytes, NotUsed> requests, Call call);
  }

  private final RpcMetrics metrics;
  private final Map<String, Unary> unary = new HashMap<>();
  private final Map<String, Streaming> streaming = new HashMap<>();
  private final Map<String, Descriptors.MethodDescriptor> descriptors = new HashMap<>();
  private final Set<String> counted = new HashSet<>();
  private final Set<String> services = new HashSet<>();
  private final Map<String, MethodMeter> meters = new ConcurrentHashMap<>();

  GrpcMethods(RpcMetrics metrics) {
    this.metrics = metrics;
  }

  /**
   * Declares the message types of a method.
   *
   * @param counted whether its metrics are shown with zeros before its first call (ME1)
   */
  GrpcMethods declare(Descriptors.MethodDescriptor method, boolean counted) {
    String path = path(method.getService().getFullName(), method.getName());
    descriptors.put(path, method);
    if (counted) {
      this.counted.add(path);
    }
    return this;
  }

  /** Creates the metric series of all methods that must be visible before their first call. */
  void showCounted() {
    counted.forEach(path -> meter(path).showAll());
  }

  /** Sets the handler of a method; a later call for the same method wins. */
  GrpcMethods unary(String service, String method, Unary handler) {
    services.add(service);
    unary.put(path(service, method), handler);
    return this;
  }

  /** Sets the handler of a method; a later call for the same method wins. */
  GrpcMethods streaming(String service, String method, Streaming handler) {
    services.add(service);
    unary.remove(path(service, method));
    streaming.put(path(service, method), handler);
    return this;
  }

  private static String path(String service, String method) {
    return "/" + service + "/" + method;
  }

  public @Nullable Unary unary(String path) {
    return unary.get(path);
  }

  public @Nullable Streaming streaming(String path) {
    return streaming.get(path);
  }

  /** The declaration of a method. */
  public Descriptors.@Nullable MethodDescriptor descriptor(String path) {
    return descriptors.get(path);
  }

  /**
   * The meter that counts the calls of a method.
   *
   * @param path of a method that {@link #unary} or {@link #streaming} knows
   */
  public MethodMeter meter(String path) {
    MethodMeter known = meters.get(path);
    return known != null ? known : meters.computeIfAbsent(path, this::newMeter);
  }

  private MethodMeter newMeter(String path) {
    int slash = path.lastIndexOf('/');
    return metrics.method(
        type(path), path.substring(1, slash), path.substring(slash + 1), GrpcStatus.NAMES);
  }

  private String type(String path) {
    Descriptors.MethodDescriptor method = descriptors.get(path);
    if (method == null) {
      return streaming.containsKey(path) ? "bidi_stream" : "unary";
    }
    if (method.isClientStreaming()) {
      return method.isServerStreaming() ? "bidi_stream" : "client_stream";
    }
    return method.isServerStreaming() ? "server_stream" : "unary";
  }

  /** gRPC's text for a path without a handler. */
  String unknown(String path) {
    int slash = path.lastIndexOf('/');
    if (slash <= 0 || !path.startsWith("/")) {
      return "malformed method name: \"" + path + "\"";
    }
    String service = path.substring(1, slash);
    String method = path.substring(slash + 1);
    return services.contains(service)
        ? "unknown method " + method + " for service " + service
        : "unknown service " + service;
  }
}
