package io.troupe.edge.jsongateway;

import io.troupe.edge.connection.ClientInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.model.ws.Message;
import org.apache.pekko.http.javadsl.model.ws.TextMessage;
import org.apache.pekko.http.javadsl.model.ws.WebSocketUpgrade;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.AsPublisher;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Framing;
import org.apache.pekko.stream.javadsl.FramingTruncation;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.reactivestreams.Publisher;

/**
 * The gateway over a WebSocket (J9): the incoming messages are the body of one request, one line
 * for each message; each line of the response is a message.
 */
final class JsonWebSocket {
  private static final String PROTOCOL = "Bearer";
  private static final ByteString NEWLINE = ByteString.fromString("\n");

  private final JsonGateway gateway;
  private final Materializer materializer;

  JsonWebSocket(JsonGateway gateway, Materializer materializer) {
    this.gateway = gateway;
    this.materializer = materializer;
  }

  HttpResponse accept(
      HttpRequest request, String path, WebSocketUpgrade upgrade, ClientInfo clientInfo) {
    List<String> protocols = new ArrayList<>();
    upgrade.getRequestedProtocols().forEach(protocols::add);
    boolean token = protocols.size() == 2 && protocols.get(0).equals(PROTOCOL);
    List<HttpHeader> headers = new ArrayList<>();
    request.getHeaders().forEach(headers::add);
    if (token) {
      headers.add(RawHeader.create("authorization", PROTOCOL + " " + protocols.get(1)));
    }
    Flow<Message, Message, NotUsed> flow = flow(path, headers, clientInfo);
    return token ? upgrade.handleMessagesWith(flow, PROTOCOL) : upgrade.handleMessagesWith(flow);
  }

  private Flow<Message, Message, NotUsed> flow(
      String path, List<HttpHeader> headers, ClientInfo clientInfo) {
    Pair<Sink<ByteString, NotUsed>, Source<ByteString, NotUsed>> body = pipe();
    CompletionStage<HttpResponse> response =
        gateway.handle(
            HttpRequest.POST(path)
                .withHeaders(headers)
                .withEntity(
                    HttpEntities.createChunked(ContentTypes.APPLICATION_JSON, body.second())),
            path,
            clientInfo);
    Sink<Message, NotUsed> in =
        Flow.<Message>create().flatMapConcat(JsonWebSocket::bytes).to(body.first());
    Source<Message, NotUsed> out =
        Source.completionStageSource(
                response.thenApply(
                    result ->
                        result
                            .entity()
                            .getDataBytes()
                            .mapMaterializedValue(any -> NotUsed.getInstance())))
            .mapMaterializedValue(any -> NotUsed.getInstance())
            .via(Framing.delimiter(NEWLINE, Integer.MAX_VALUE, FramingTruncation.ALLOW))
            .map(line -> TextMessage.create(line.utf8String()));
    return Flow.fromSinkAndSourceCoupled(in, out);
  }

  /** Connects a sink to a source: the source emits what the sink receives. */
  private Pair<Sink<ByteString, NotUsed>, Source<ByteString, NotUsed>> pipe() {
    Pair<Publisher<ByteString>, Sink<ByteString, NotUsed>> made =
        Sink.<ByteString>asPublisher(AsPublisher.WITHOUT_FANOUT).preMaterialize(materializer);
    return Pair.create(made.second(), Source.fromPublisher(made.first()));
  }

  private static Source<ByteString, NotUsed> bytes(Message message) {
    Source<ByteString, ?> bytes =
        message.isText()
            ? message.asTextMessage().getStreamedText().map(ByteString::fromString)
            : message.asBinaryMessage().getStreamedData();
    return bytes.mapMaterializedValue(any -> NotUsed.getInstance()).concat(Source.single(NEWLINE));
  }
}
