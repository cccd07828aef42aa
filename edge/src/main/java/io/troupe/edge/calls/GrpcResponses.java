package io.troupe.edge.calls;

import io.troupe.edge.engine.HttpLayer;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.Trailer;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.scaladsl.model.EntityStreamException;
import org.apache.pekko.http.scaladsl.model.http2.PeerClosedStreamException;
import org.apache.pekko.japi.pf.PFBuilder;
import org.apache.pekko.stream.AbruptStageTerminationException;
import org.apache.pekko.stream.AbruptTerminationException;
import org.apache.pekko.stream.StreamTcpException;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** HTTP responses in gRPC's form. */
public final class GrpcResponses {
  private static final ContentType.Binary GRPC =
      MediaTypes.applicationBinary("grpc", false).toContentType();
  private static final HttpHeader STATUS_OK = RawHeader.create("grpc-status", "0");
  private static final Trailer TRAILER_OK = Trailer.create().addHeader(STATUS_OK);

  /** Each change of a response copies it, so the common parts are set once. */
  private static final HttpResponse OK =
      HttpResponse.create().addAttribute(AttributeKeys.trailer, TRAILER_OK);

  /** Known to be empty, like a strict entity, but without a length for the header. */
  private static final HttpEntity.Chunked NO_MESSAGE = chunked(Source.empty());

  private GrpcResponses() {}

  /** One message and the status OK. */
  static HttpResponse unary(ByteString frame) {
    return OK.withEntity(HttpEntities.create(GRPC, frame));
  }

  /** No message, only a status: one header block that ends the stream, without content-length. */
  static HttpResponse failure(GrpcStatus status) {
    return HttpResponse.create().withEntity(NO_MESSAGE).addHeaders(headers(status));
  }

  /**
   * The status of a failed call. A disconnected client is not a fault: clients leave watches all
   * the time.
   */
  public static GrpcStatus status(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (hasLeft(cause)) {
      return new GrpcStatus(GrpcStatus.CANCELED, "context canceled");
    }
    return GrpcErrors.of(hasStopped(cause) ? new RefusedException(Refusal.STOPPED) : cause);
  }

  /** At a shutdown a stream may stop before its connection. */
  private static boolean hasStopped(Throwable cause) {
    return cause instanceof AbruptTerminationException
        || cause instanceof AbruptStageTerminationException;
  }

  /** A request body or connection that breaks off means that the client has disconnected. */
  private static boolean hasLeft(Throwable cause) {
    return cause instanceof PeerClosedStreamException
        || cause instanceof EntityStreamException
        || cause instanceof StreamTcpException
        || HttpLayer.isConnectionAborted(cause);
  }

  /**
   * Messages as they arrive, then a status.
   *
   * @param frames whole frames, any number per element; completion is the status OK, a failure
   *     becomes its status
   */
  static HttpResponse streaming(Source<ByteString, NotUsed> frames) {
    Source<HttpEntity.ChunkStreamPart, NotUsed> parts =
        frames
            .map(GrpcResponses::chunk)
            .concat(Source.single(last(GrpcStatus.OK)))
            .recover(
                new PFBuilder<Throwable, HttpEntity.ChunkStreamPart>()
                    .matchAny(failure -> last(status(failure)))
                    .build());
    return HttpResponse.create().withEntity(chunked(parts));
  }

  /**
   * The Java API has no chunked entity with trailers, so this creates the Scala one; both kinds of
   * part are the same objects.
   */
  @SuppressWarnings("unchecked")
  private static HttpEntity.Chunked chunked(Source<HttpEntity.ChunkStreamPart, NotUsed> parts) {
    return new org.apache.pekko.http.scaladsl.model.HttpEntity.Chunked(
        (org.apache.pekko.http.scaladsl.model.ContentType) GRPC,
        (org.apache.pekko.stream.scaladsl.Source<
                org.apache.pekko.http.scaladsl.model.HttpEntity.ChunkStreamPart, Object>)
            (Object) parts.asScala());
  }

  private static HttpEntity.ChunkStreamPart chunk(ByteString frames) {
    return HttpEntity.ChunkStreamPart.create(frames);
  }

  private static HttpEntity.ChunkStreamPart last(GrpcStatus status) {
    return HttpEntity.ChunkStreamPart.createLast("", headers(status));
  }

  private static List<HttpHeader> headers(GrpcStatus status) {
    if (status.code() == 0) {
      return List.of(STATUS_OK);
    }
    List<HttpHeader> headers = new ArrayList<>(2);
    headers.add(RawHeader.create("grpc-status", Integer.toString(status.code())));
    headers.add(RawHeader.create("grpc-message", percentEncode(status.message())));
    return headers;
  }

  /** gRPC's encoding of a status text: printable ASCII except '%' stands for itself. */
  static String percentEncode(String text) {
    StringBuilder out = new StringBuilder(text.length());
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (b >= 0x20 && b <= 0x7e && b != '%') {
        out.append((char) b);
      } else {
        out.append('%')
            .append(Character.toUpperCase(Character.forDigit((b >> 4) & 0xf, 16)))
            .append(Character.toUpperCase(Character.forDigit(b & 0xf, 16)));
      }
    }
    return out.toString();
  }
}
