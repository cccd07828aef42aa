package io.troupe.grpc.http;

import io.troupe.grpc.service.Call;
import java.time.Duration;
import java.util.Optional;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;

/** Reads a call's metadata from its HTTP headers (T5). */
final class CallMetadata {
  private CallMetadata() {}

  /** What the services need to know of a request besides its message. */
  static Call of(HttpRequest request) {
    String token = "";
    String authorization = "";
    boolean hasLeader = false;
    Optional<Duration> timeout = Optional.empty();
    for (HttpHeader header : request.getHeaders()) {
      switch (header.lowercaseName()) {
        case "token" -> token = header.value();
        case "authorization" -> authorization = header.value();
        case "hasleader" -> hasLeader = header.value().equals("true");
        case "grpc-timeout" -> timeout = timeout(header.value());
        default -> {
          // Other metadata has no meaning here.
        }
      }
    }
    String raw = token.isEmpty() ? authorization : token;
    String bare = raw.startsWith("Bearer ") ? raw.substring("Bearer ".length()) : raw;
    return new Call(bare, hasLeader, timeout);
  }

  /** gRPC's form: up to eight digits and a unit. Anything else is as if it were absent. */
  static Optional<Duration> timeout(String text) {
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
    return switch (text.charAt(digits)) {
      case 'H' -> Optional.of(Duration.ofHours(amount));
      case 'M' -> Optional.of(Duration.ofMinutes(amount));
      case 'S' -> Optional.of(Duration.ofSeconds(amount));
      case 'm' -> Optional.of(Duration.ofMillis(amount));
      case 'u' -> Optional.of(Duration.ofNanos(amount * 1000));
      case 'n' -> Optional.of(Duration.ofNanos(amount));
      default -> Optional.empty();
    };
  }
}
