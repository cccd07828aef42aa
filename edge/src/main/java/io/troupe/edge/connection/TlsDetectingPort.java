package io.troupe.edge.connection;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * An address that serves connections with and without TLS (T2). The first byte of a connection
 * decides, and must arrive within the time limit of a handshake (TL4); then one of two ports serves
 * the connection. Until then it counts as a pending handshake.
 */
public final class TlsDetectingPort implements Connections {
  /**
   * Type of a TLS record that carries a handshake. No HTTP request or HTTP/2 preface starts with
   * it.
   */
  private static final byte HANDSHAKE = 0x16;

  private final ClientPort plain;
  private final ClientPort secure;
  private final SecureListener listener;
  private final Materializer materializer;

  /**
   * Creates a port on two ports that are not bound.
   *
   * @param secure with TLS
   * @param listener of {@code secure}
   */
  public TlsDetectingPort(
      ClientPort plain, ClientPort secure, SecureListener listener, Materializer materializer) {
    this.plain = plain;
    this.secure = secure;
    this.listener = listener;
    this.materializer = materializer;
  }

  @Override
  public CompletionStage<Done> serve(ClientConnection accepted) {
    Newcomer newcomer = new Newcomer(accepted, listener.secured(accepted));
    return Flow.<ByteString>create()
        .flatMapPrefixMat(1, newcomer::chosen, Keep.left())
        .watchTermination(Keep.right())
        .join(newcomer.connection.limited())
        .addAttributes(plain.attributes())
        .run(materializer)
        .handle(newcomer::ended);
  }

  @Override
  public CompletionStage<Done> close(Duration grace) {
    return plain.close(grace).thenCombine(secure.close(grace), (one, two) -> two);
  }

  /** A connection whose first byte has not arrived. */
  private final class Newcomer {
    private final ClientConnection accepted;
    private final SecureConnection connection;
    private volatile boolean decided;

    Newcomer(ClientConnection accepted, SecureConnection connection) {
      this.accepted = accepted;
      this.connection = connection;
    }

    /**
     * Selects the flow for the first element and the rest of the connection; without an element the
     * connection is closed.
     */
    Flow<ByteString, ByteString, NotUsed> chosen(List<ByteString> came) {
      if (came.isEmpty()) {
        return Flow.fromSinkAndSource(Sink.cancelled(), Source.empty());
      }
      decided = true;
      ByteString first = came.get(0);
      Flow<ByteString, ByteString, CompletionStage<Done>> rest;
      if (first.apply(0) == HANDSHAKE) {
        rest = secure.flow(accepted, connection);
      } else {
        connection.isPlain();
        rest = plain.flow(accepted, null);
      }
      return Flow.<ByteString>create().prepend(Source.single(first)).via(rest);
    }

    /** The failure of a connection affects only this connection. */
    Done ended(@Nullable Done done, @Nullable Throwable failure) {
      if (!decided) {
        connection.ended(failure);
      }
      return Done.getInstance();
    }
  }
}
