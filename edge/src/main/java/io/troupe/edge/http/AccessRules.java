package io.troupe.edge.http;

import io.troupe.edge.connection.ClientInfo;
import io.troupe.edge.engine.HttpLayer;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.jspecify.annotations.Nullable;

/**
 * Access rules of the HTTP side of a client port: host names (H6), origins (H7), certificates
 * (A14).
 */
public final class AccessRules {
  private final HttpSettings settings;
  private final BooleanSupplier authentication;

  /**
   * Creates the rules.
   *
   * @param authentication whether authentication is enabled
   */
  public AccessRules(HttpSettings settings, BooleanSupplier authentication) {
    this.settings = settings;
    this.authentication = authentication;
  }

  /**
   * The response that rejects a request, or null. An OPTIONS request always ends here: a request
   * from a foreign origin gets an empty response without the permission.
   *
   * @param gateway whether the request is for the JSON gateway
   */
  @Nullable HttpResponse refusal(HttpRequest request, ClientInfo clientInfo, boolean gateway) {
    String certificateName = clientInfo.certificateName();
    boolean named = certificateName != null && !certificateName.isEmpty();
    if (gateway && named && authentication.getAsBoolean()) {
      return HttpResponses.text(
          StatusCodes.BAD_REQUEST,
          "CommonName of client sending a request against gateway will be ignored and not used as"
              + " expected\n");
    }
    String host = host(request);
    if (!clientInfo.secure() && !settings.allowsHost(host)) {
      return HttpResponses.text(
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

  /** Empty when the request names no host. */
  private static String host(HttpRequest request) {
    String named = request.getUri().host().address();
    return named.equals(HttpLayer.NO_HOST) ? "" : named;
  }

  /** Adds the headers that allow a browser to pass the response to its page. */
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
