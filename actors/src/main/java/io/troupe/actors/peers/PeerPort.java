package io.troupe.actors.peers;

import io.troupe.metrics.RateLimitedLogger;
import io.troupe.model.Invariant;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.io.TcpMessage;
import org.apache.pekko.remote.RemoteTransportException;
import org.apache.pekko.remote.artery.tcp.ArteryTcpTransport;
import org.apache.pekko.remote.artery.tcp.SSLEngineProviderSetup;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.IgnoreComplete$;
import org.apache.pekko.stream.TLSProtocol.SendBytes;
import org.apache.pekko.stream.TLSProtocol.SessionBytes;
import org.apache.pekko.stream.TLSProtocol.SslTlsInbound;
import org.apache.pekko.stream.TLSProtocol.SslTlsOutbound;
import org.apache.pekko.stream.javadsl.BidiFlow;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.stream.javadsl.TLS;
import org.apache.pekko.stream.scaladsl.Tcp;
import org.apache.pekko.stream.scaladsl.Tcp$;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Some;
import scala.collection.immutable.List$;
import scala.concurrent.Future;
import scala.jdk.javaapi.FutureConverters;

/**
 * The port that other members connect to, opened in place of Artery's, because Artery does not
 * report the address of a connection (docs/decisions/0131). Removes TLS, adds a frame filter, and
 * leaves the rest to Artery's handling of new connections.
 */
final class PeerPort {
  private static final Logger LOG = LoggerFactory.getLogger(PeerPort.class);

  /** Unknown peers in front of the queue are rejected faster than new ones come. */
  private static final int BACKLOG = 1024;

  /** Longest time that a rejected connection stays open for its alert. */
  private static final Duration ALERT_TIME = Duration.ofSeconds(1);

  private static final VarHandle WAY = field("inboundConnectionFlow", Future.class);
  private static final VarHandle BINDING = field("serverBinding", Option.class);

  private final ExtendedActorSystem system;
  private final ArteryTcpTransport transport;
  private final HandshakeLimit limit;
  private final RateLimitedLogger log;
  private final Gates gates;
  private final @Nullable PeerTls tls;

  /** Creates the frame filter of a connection. */
  interface Gates {
    /**
     * Creates a filter.
     *
     * @param certificate the members that the other side may act for
     * @param admitted completes when received frames may be checked
     * @param memberSpoke runs when a member sent a valid frame
     */
    PeerFrameFilter of(
        PeerCertificate certificate, CompletionStage<Void> admitted, Runnable memberSpoke);
  }

  /** A port that is not open yet. */
  PeerPort(
      ExtendedActorSystem system,
      ArteryTcpTransport transport,
      HandshakeLimit limit,
      RateLimitedLogger log,
      Gates gates) {
    this.system = system;
    this.transport = transport;
    this.limit = limit;
    this.log = log;
    this.gates = gates;
    // PeerTls.setup is the only one that is given to an actor system.
    this.tls =
        system
            .settings()
            .setup()
            .get(SSLEngineProviderSetup.class)
            .map(setup -> (PeerTls) setup.sslEngineProvider().apply(system))
            .orElse(null);
    Invariant.require(
        (tls != null)
            == system
                .settings()
                .config()
                .getString("pekko.remote.artery.transport")
                .equals("tls-tcp"),
        "TLS between members is half configured");
  }

  private static VarHandle field(String name, Class<?> type) {
    try {
      return MethodHandles.privateLookupIn(ArteryTcpTransport.class, MethodHandles.lookup())
          .findVarHandle(ArteryTcpTransport.class, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * Closes the port that Artery opened, which no peer knows, and opens the port for members. Artery
   * closes that port when it stops.
   *
   * @throws RemoteTransportException if it cannot be opened
   */
  void open(String host, int port, Duration timeout) {
    Object artery = ((Option<?>) BINDING.getVolatile(transport)).get();
    try {
      await(FutureConverters.asJava(((Tcp.ServerBinding) artery).unbind()), timeout);
      // Nothing else uses TCP yet. The listener does not know the message.
      system
          .actorSelection("/system/IO-TCP/selectors/*/*")
          .tell(TcpMessage.abort(), ActorRef.noSender());
      BINDING.setVolatile(transport, new Some<>(await(bind(host, port), timeout)));
    } catch (ExecutionException | TimeoutException | InterruptedException e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
      throw new RemoteTransportException(
          "Failed to bind TCP to [" + host + ":" + port + "] due to: " + cause.getMessage(), cause);
    }
  }

  private static <T> T await(CompletionStage<T> stage, Duration timeout)
      throws ExecutionException, TimeoutException, InterruptedException {
    return stage.toCompletableFuture().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  private CompletionStage<Tcp.ServerBinding> bind(String host, int port) {
    Source<Tcp.IncomingConnection, Future<Tcp.ServerBinding>> connections =
        Tcp$.MODULE$
            .get(system)
            .bind(
                host,
                port,
                BACKLOG,
                List$.MODULE$.empty(),
                false,
                scala.concurrent.duration.Duration.Inf())
            .asJava();
    return FutureConverters.asJava(
        connections.toMat(Sink.foreach(this::accepted), Keep.left()).run(transport.materializer()));
  }

  /** Never fails: the port stays open. */
  private void accepted(Tcp.IncomingConnection connection) {
    InetSocketAddress remote = connection.remoteAddress();
    InetAddress from = remote.getAddress();
    Flow<ByteString, ByteString, NotUsed> bytes = connection.flow().asJava();
    try {
      if (tls == null) {
        serve(bytes, from, PeerCertificate.ANY, CompletableFuture.completedFuture(null));
      } else if (limit.admits(from, System.nanoTime())) {
        PeerTls.Incoming secured = tls.incoming(remote);
        serve(
            decrypted(secured).join(bytes.via(untilToldWhy())),
            from,
            secured.certificate(),
            secured.admitted());
      } else {
        log.warn(
            "connection to the peer port ended: too many handshakes",
            "from=" + from.getHostAddress());
        Flow<ByteString, ByteString, NotUsed> rejected =
            Flow.fromSinkAndSource(Sink.cancelled(), Source.failed(new TooMany()));
        bytes.join(rejected).run(transport.materializer());
      }
    } catch (RuntimeException e) {
      if (!transport.isShutdown()) {
        LOG.error("a connection to the peer port could not be taken", e);
      }
    }
  }

  /**
   * The TLS stage stops reading when it rejects a connection, which would close it before the alert
   * is sent that tells the other member why.
   */
  private static Flow<ByteString, ByteString, NotUsed> untilToldWhy() {
    Attributes.CancellationStrategy$ strategies = Attributes.CancellationStrategy$.MODULE$;
    return Flow.<ByteString>create()
        .map(bytes -> bytes)
        .addAttributes(
            Attributes.apply(
                strategies.apply(strategies.afterDelay(ALERT_TIME, strategies.completeStage()))));
  }

  private void serve(
      Flow<ByteString, ByteString, NotUsed> bytes,
      InetAddress from,
      PeerCertificate certificate,
      CompletionStage<Void> admitted) {
    PeerFrameFilter gate =
        gates.of(certificate, admitted, () -> limit.memberSpoke(from, System.nanoTime()));
    Flow<ByteString, ByteString, NotUsed> guarded = Flow.fromGraph(gate).via(way());
    bytes.join(guarded).run(transport.materializer());
  }

  /** Artery creates it again after its actors restarted. */
  @SuppressWarnings("unchecked") // The field's type.
  private Flow<ByteString, ByteString, NotUsed> way() {
    Future<org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, NotUsed>> way =
        (Future<org.apache.pekko.stream.scaladsl.Flow<ByteString, ByteString, NotUsed>>)
            WAY.getVolatile(transport);
    return way.value().get().get().asJava();
  }

  private static BidiFlow<ByteString, ByteString, ByteString, ByteString, NotUsed> decrypted(
      PeerTls.Incoming secured) {
    BidiFlow<ByteString, SslTlsOutbound, SslTlsInbound, ByteString, NotUsed> text =
        BidiFlow.fromFlows(
            Flow.<ByteString>create().map(SendBytes::new),
            // What else there is says that the end came without a farewell: the end follows.
            Flow.<SslTlsInbound>create().collectType(SessionBytes.class).map(SessionBytes::bytes));
    return text.atop(TLS.create(secured::engine, secured::handshaken, IgnoreComplete$.MODULE$));
  }

  /** Closes a connection immediately, so that it leaves no state here. */
  private static final class TooMany extends RuntimeException {
    private static final long serialVersionUID = 1;

    private TooMany() {
      super("too many handshakes", null, false, false);
    }
  }
}
