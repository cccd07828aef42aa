package io.troupe.grpc.http;

import com.google.protobuf.MessageLite;
import io.troupe.grpc.service.Call;
import io.troupe.model.Bytes;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/** Which call answers which path. Filled at start, then only read. */
final class GrpcMethods {
  /** A call with one request and one response. */
  interface Unary {
    /**
     * Answers.
     *
     * @param request the request message's bytes
     * @throws IOException if they do not decode
     */
    CompletionStage<? extends MessageLite> call(Bytes request, Call call) throws IOException;
  }

  /** A call with a stream on at least one side. */
  interface Streaming {
    /**
     * Answers.
     *
     * @param requests the request messages' bytes; consumed at most once
     * @return whole frames
     */
    Source<ByteString, NotUsed> call(Source<Bytes, NotUsed> requests, Call call);
  }

  private final Map<String, Unary> unary = new HashMap<>();
  private final Map<String, Streaming> streaming = new HashMap<>();
  private final Set<String> services = new HashSet<>();

  /** Sets the answer of a method; a later call for the same method wins. */
  GrpcMethods unary(String service, String method, Unary answer) {
    services.add(service);
    unary.put("/" + service + "/" + method, answer);
    return this;
  }

  /** Sets the answer of a method; a later call for the same method wins. */
  GrpcMethods streaming(String service, String method, Streaming answer) {
    services.add(service);
    unary.remove("/" + service + "/" + method);
    streaming.put("/" + service + "/" + method, answer);
    return this;
  }

  @Nullable Unary unary(String path) {
    return unary.get(path);
  }

  @Nullable Streaming streaming(String path) {
    return streaming.get(path);
  }

  /** gRPC's words for a path that nothing answers. */
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
