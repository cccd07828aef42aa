package io.troupe.edge.calls;

import com.google.protobuf.ByteString;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import io.troupe.server.Call;
import io.troupe.server.CallTrace;
import io.troupe.server.ReplyExecutor;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.jspecify.annotations.Nullable;

/**
 * Reads a call's metadata from its HTTP headers (T5). If a header is repeated, the first value
 * counts.
 */
public final class CallMetadata {
  /** Longer than any client waits, and within the limit of Pekko's timers, 248 days. */
  private static final Duration LONGEST = Duration.ofDays(100);

  private CallMetadata() {}

  /**
   * Builds what the services need to know of a request besides its message.
   *
   * @param headers of the request
   * @param certificateName of the client, null if the certificate is not a login; ignored if the
   *     request passed a gateway
   * @param memory of the call
   * @param abandoned true once the client has disconnected or reset the stream
   * @param executor runs what follows a reply
   * @param trace of the call
   * @throws RefusedException INVALID_CLIENT_API_VERSION if the client's version is not UTF-8
   */
  static Call of(
      Iterable<HttpHeader> headers,
      @Nullable String certificateName,
      MemoryBudget.Share memory,
      BooleanSupplier abandoned,
      ReplyExecutor executor,
      CallTrace trace) {
    String token = null;
    String authorization = null;
    String hasLeader = null;
    String apiVersion = null;
    Optional<Duration> timeout = Optional.empty();
    @Nullable String user = certificateName;
    for (HttpHeader header : headers) {
      switch (header.lowercaseName()) {
        case "token" -> token = token == null ? header.value() : token;
        case "authorization" ->
            authorization = authorization == null ? header.value() : authorization;
        case "hasleader" -> hasLeader = hasLeader == null ? header.value() : hasLeader;
        case "client-api-version" -> apiVersion = apiVersion == null ? header.value() : apiVersion;
        // A gateway's certificate does not identify its client.
        case "grpcgateway-accept" -> user = null;
        case "grpc-timeout" -> timeout = timeout(header.value());
        default -> {
          // Other metadata has no effect.
        }
      }
    }
    if (apiVersion != null && !isUtf8(apiVersion)) {
      throw new RefusedException(Refusal.INVALID_CLIENT_API_VERSION);
    }
    return new Call(
        bare(token == null ? authorization : token),
        "true".equals(hasLeader),
        timeout,
        apiVersion == null ? "" : apiVersion,
        memory,
        abandoned,
        user,
        executor,
        trace);
  }

  /** An empty header gives an empty token, which is invalid (A3). */
  private static @Nullable String bare(@Nullable String raw) {
    return raw != null && raw.startsWith("Bearer ") ? raw.substring("Bearer ".length()) : raw;
  }

  /** The HTTP layer returns each byte of a header as one character, whose low eight bits it is. */
  private static boolean isUtf8(String header) {
    boolean ascii = true;
    for (int i = 0; i < header.length() && ascii; i++) {
      ascii = header.charAt(i) < 0x80;
    }
    if (ascii) {
      return true;
    }
    byte[] bytes = new byte[header.length()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) header.charAt(i);
    }
    return ByteString.copyFrom(bytes).isValidUtf8();
  }

  /**
   * Parses gRPC's form: up to eight digits and a unit. Any other text is ignored.
   *
   * @return 100 days at most
   */
  public static Optional<Duration> timeout(String text) {
    int digits = text.length() - 1;
    if (digits < 1 || digits > 8) {
      return Optional.empty();
    }
    long amount = 0;
    for (int i = 0; i < digits; i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return Optional.empty();
      }
      amount = amount * 10 + (c - '0');
    }
    Optional<Duration> given =
        switch (text.charAt(digits)) {
          case 'H' -> Optional.of(Duration.ofHours(amount));
          case 'M' -> Optional.of(Duration.ofMinutes(amount));
          case 'S' -> Optional.of(Duration.ofSeconds(amount));
          case 'm' -> Optional.of(Duration.ofMillis(amount));
          case 'u' -> Optional.of(Duration.ofNanos(amount * 1000));
          case 'n' -> Optional.of(Duration.ofNanos(amount));
          default -> Optional.empty();
        };
    return given.map(time -> time.compareTo(LONGEST) < 0 ? time : LONGEST);
  }
}
