package io.troupe.grpc.http;

import io.troupe.grpc.service.MaintenanceService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.Allow;
import org.apache.pekko.stream.Materializer;

/** What the port answers to HTTP/1.1 (5.1): so far the version; everything else is not found. */
final class HttpRoutes {
  private static final String VERSION =
      "{\"etcdserver\":\""
          + MaintenanceService.ETCD_VERSION
          + "\",\"etcdcluster\":\"3.7.0\",\"storage\":\"3.7.0\"}";

  private final Materializer materializer;

  HttpRoutes(Materializer materializer) {
    this.materializer = materializer;
  }

  CompletionStage<HttpResponse> handle(HttpRequest request) {
    request.discardEntityBytes(materializer);
    return CompletableFuture.completedFuture(answer(request));
  }

  private static HttpResponse answer(HttpRequest request) {
    if (!request.getUri().path().equals("/version")) {
      return HttpResponse.create()
          .withStatus(StatusCodes.NOT_FOUND)
          .withEntity(ContentTypes.TEXT_PLAIN_UTF8, "404 page not found\n");
    }
    if (!request.method().equals(HttpMethods.GET)) {
      return HttpResponse.create()
          .withStatus(StatusCodes.METHOD_NOT_ALLOWED)
          .addHeader(Allow.create(HttpMethods.GET))
          .withEntity(ContentTypes.TEXT_PLAIN_UTF8, "Method Not Allowed\n");
    }
    return HttpResponse.create().withEntity(ContentTypes.APPLICATION_JSON, VERSION);
  }
}
