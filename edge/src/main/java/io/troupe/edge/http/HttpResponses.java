package io.troupe.edge.http;

import java.util.List;
import java.util.Set;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCode;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.Allow;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.scaladsl.model.IllegalUriException;

/** Plain-text responses, and the query parameters that endpoints read. */
final class HttpResponses {
  private HttpResponses() {}

  /** A text response that a browser does not interpret as another type. */
  static HttpResponse text(StatusCode status, String body) {
    return HttpResponse.create()
        .withStatus(status)
        .addHeader(RawHeader.create("X-Content-Type-Options", "nosniff"))
        .withEntity(ContentTypes.TEXT_PLAIN_UTF8, body);
  }

  /** The response for an unknown path. */
  static HttpResponse notFound() {
    return text(StatusCodes.NOT_FOUND, "404 page not found\n");
  }

  /** H1: HEAD is rejected too. */
  static HttpResponse onlyGet() {
    return text(StatusCodes.METHOD_NOT_ALLOWED, "Method Not Allowed\n")
        .addHeader(Allow.create(HttpMethods.GET));
  }

  static boolean isGet(HttpRequest request) {
    return request.method().equals(HttpMethods.GET);
  }

  /** Values of a query parameter; none if the query is malformed. */
  static Set<String> parameters(HttpRequest request, String name) {
    return Set.copyOf(values(request, name));
  }

  /** True if the parameter is present, with or without a value. */
  static boolean hasParameter(HttpRequest request, String name) {
    return !values(request, name).isEmpty();
  }

  private static List<String> values(HttpRequest request, String name) {
    try {
      return request.getUri().query().toMultiMap().getOrDefault(name, List.of());
    } catch (IllegalUriException malformed) {
      // Treated as a request without a query.
      return List.of();
    }
  }
}
