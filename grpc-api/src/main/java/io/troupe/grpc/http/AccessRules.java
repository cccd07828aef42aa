package io.troupe.grpc.http;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.jspecify.annotations.Nullable;

/** Who may use the HTTP side of a client port: names (H6), origins (H7), certificates (A14). */
final class AccessRules {
  /**
   * Stands for the host that a request does not name, as those of load balancers that look whether
   * a member is well. Nobody can have this name (RFC 6761).
   */
  static final String NO_HOST = "host.invalid";

  private final HttpSettings settings;
  private final BooleanSupplier authentication;

  /**
   * Rules.
   *
   * @param authentication whether it is on
   */
  AccessRules(HttpSettings settings, BooleanSupplier authentication) {
    this.settings = settings;
    this.authentication = authentication;
  }

  /**
   * The answer to a request that goes no further, or null. An OPTIONS request always ends here: who
   * asks from a foreign origin gets an empty answer without the permission.
   *
   * @param gateway whether it is for the JSON gateway
   */
  @Nullable HttpResponse refusal(HttpRequest request, ClientInfo visitor, boolean gateway) {
    String certificateName = visitor.certificateName();
    boolean named = certificateName != null && !certificateName.isEmpty();
    if (gateway && named && authentication.getAsBoolean()) {
      return HttpAnswers.text(
          StatusCodes.BAD_REQUEST,
          "CommonName of client sending a request against gateway will be ignored and not used as"
              + " expected\n");
    }
    String host = host(request);
    if (!visitor.secure() && !settings.allowsHost(host)) {
      return HttpAnswers.text(
          StatusCodes.MISDIRECTED_REQUEST,
          "This member does not answer to the host name \""
              + host
              + "\" on a port without TLS. Use TLS there, or add the name with --host-whitelist"
              + " (host-whitelist in the configuration).\n");
    }
    if (request.method().equals(HttpMethods.OPTIONS)) {
      return allowed(request, HttpResponse.create().withStatus(StatusCodes.OK));
    }
    return null;
  }

  /** Empty when the request names none. */
  private static String host(HttpRequest request) {
    String named = request.getUri().host().address();
    return named.equals(NO_HOST) ? "" : named;
  }

  /** The answer with what a browser needs to hand it to its page. */
  HttpResponse allowed(HttpRequest request, HttpResponse response) {
    String origin = null;
    if (settings.allowsOrigin("*")) {
      origin = "*";
    } else {
      String own = request.getHeader("origin").map(HttpHeader::value).orElse("");
      if (!own.isEmpty() && settings.allowsOrigin(own)) {
        origin = own;
      }
    }
    if (origin == null) {
      return response;
    }
    return response.addHeaders(
        List.of(
            RawHeader.create("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE"),
            RawHeader.create("Access-Control-Allow-Origin", origin),
            RawHeader.create(
                "Access-Control-Allow-Headers", "accept, content-type, authorization")));
  }
}
