package io.troupe.node.discovery;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.troupe.edge.json.JsonMessages;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.AuthenticateResponse;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.error.GrpcException;
import io.troupe.model.Bytes;
import io.troupe.node.tls.OutgoingTls;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Accesses the keys of a cluster through its JSON gateway, which etcd and Troupe serve at the
 * client URLs. Endpoints that fail are skipped. Not thread-safe.
 */
final class HttpRegistry implements Registry {
  /** The error of a server on which authentication is off. */
  private static final String NO_AUTH = "authentication is not enabled";

  /** Maximum characters of a response in a log line. */
  private static final int SHOWN = 200;

  private static final Set<Integer> FINAL = Set.of(400, 401, 403);

  private final DiscoverySettings settings;
  private final HttpClient client;
  private final Duration replyTimeout;

  /** Endpoint of the last successful response: the next request uses it first. */
  private int first;

  private boolean needsLogin;
  private @Nullable String login;

  /** A response whose status is not success. */
  private static final class StatusException extends IOException {
    private static final long serialVersionUID = 1L;
    private final int status;

    StatusException(int status, String message) {
      super(message);
      this.status = status;
    }
  }

  /**
   * Opens nothing yet.
   *
   * @throws io.troupe.node.tls.TlsException if certificates or keys cannot be used
   */
  HttpRegistry(DiscoverySettings settings) {
    this.settings = settings;
    this.needsLogin = !settings.user().isEmpty();
    this.replyTimeout = settings.dialTimeout().plus(settings.requestTimeout());
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(settings.dialTimeout());
    if (settings.endpoints().stream().anyMatch(url -> "https".equals(url.getScheme()))) {
      builder.sslContext(
          OutgoingTls.context(
              settings.certFile(),
              settings.keyFile(),
              settings.trustedCaFile(),
              settings.trustAnyCertificate()));
    }
    this.client = builder.build();
  }

  @Override
  public Optional<String> get(String key) throws IOException, InterruptedException {
    RangeRequest request = RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8(key)).build();
    return items(request).stream().map(Item::value).findFirst();
  }

  @Override
  public List<Item> list(String prefix) throws IOException, InterruptedException {
    // The end of the range of all keys with the prefix, whose last character is a slash.
    String end = prefix.substring(0, prefix.length() - 1) + (char) ('/' + 1);
    RangeRequest request =
        RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8(prefix))
            .setRangeEnd(ByteString.copyFromUtf8(end))
            .setSortTarget(RangeRequest.SortTarget.CREATE)
            .setSortOrder(RangeRequest.SortOrder.ASCEND)
            .build();
    return items(request);
  }

  @Override
  public void put(String key, String value) throws IOException, InterruptedException {
    PutRequest request =
        PutRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8(key))
            .setValue(ByteString.copyFromUtf8(value))
            .build();
    call("/v3/kv/put", request, PutResponse.getDefaultInstance());
  }

  private List<Item> items(RangeRequest request) throws IOException, InterruptedException {
    return call("/v3/kv/range", request, RangeResponse.getDefaultInstance()).getKvsList().stream()
        .map(
            kv ->
                new Item(
                    kv.getKey().toStringUtf8(),
                    kv.getValue().toStringUtf8(),
                    kv.getCreateRevision()))
        .toList();
  }

  /**
   * Returns the response of the first endpoint that succeeds; fails with the last failure if none
   * does.
   */
  private <A extends Message> A call(String path, Message request, A form)
      throws IOException, InterruptedException {
    int count = settings.endpoints().size();
    IOException last = new IOException("no endpoint");
    for (int i = 0; i < count; i++) {
      int each = (first + i) % count;
      URI endpoint = settings.endpoints().get(each);
      try {
        if (needsLogin && login == null) {
          login(endpoint);
        }
        A response = ask(endpoint, path, request, form);
        first = each;
        return response;
      } catch (IOException failed) {
        // The token may have expired: the next attempt begins with a login.
        login = null;
        failed.addSuppressed(last);
        last = failed;
      }
    }
    throw last;
  }

  /** Logs in as etcd's client does. A refused login is not retried. */
  private void login(URI endpoint) throws IOException, InterruptedException {
    AuthenticateRequest request =
        AuthenticateRequest.newBuilder()
            .setName(settings.user())
            .setPassword(settings.password())
            .build();
    try {
      login =
          ask(endpoint, "/v3/auth/authenticate", request, AuthenticateResponse.getDefaultInstance())
              .getToken();
    } catch (StatusException refused) {
      if (String.valueOf(refused.getMessage()).contains(NO_AUTH)) {
        needsLogin = false;
        return;
      }
      if (FINAL.contains(refused.status)) {
        throw new DiscoveryException(
            "discovery: the login of \""
                + settings.user()
                + "\" is refused: "
                + refused.getMessage());
      }
      throw refused;
    }
  }

  private <A extends Message> A ask(URI endpoint, String path, Message message, A form)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(endpoint + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(JsonMessages.print(message)));
    String token = login;
    if (token != null) {
      request.header("Authorization", token);
    }
    HttpResponse<byte[]> response = whole(endpoint, request.build());
    if (response.statusCode() != 200) {
      throw new StatusException(
          response.statusCode(),
          endpoint + path + " returned " + response.statusCode() + " " + shown(response.body()));
    }
    try {
      Bytes parsed = JsonMessages.parse(Bytes.wrap(response.body()), form.getDescriptorForType());
      @SuppressWarnings("unchecked")
      Parser<A> parser = (Parser<A>) form.getParserForType();
      return parser.parseFrom(parsed.toArrayUnsafe());
    } catch (GrpcException | InvalidProtocolBufferException malformed) {
      throw new IOException(
          endpoint + path + " returned a malformed response: " + shown(response.body()), malformed);
    }
  }

  /** Limits the time of the whole response: the client's own timeout only covers its beginning. */
  private HttpResponse<byte[]> whole(URI endpoint, HttpRequest request)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<byte[]>> response =
        client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
    try {
      return response.get(replyTimeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new IOException(endpoint + " did not respond within " + replyTimeout, late);
    } catch (ExecutionException failed) {
      throw new IOException(endpoint + " cannot be reached: " + failed.getCause(), failed);
    } finally {
      // No effect on a completed request.
      response.cancel(true);
    }
  }

  private static String shown(byte[] body) {
    String text = Bytes.wrap(body).utf8().strip().replaceAll("\\s+", " ");
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + " ...";
  }
}
