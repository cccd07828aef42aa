package io.troupe.edge.connection;

import io.troupe.edge.frames.Http2FrameLimits;
import io.troupe.edge.frames.RequestFraming;
import io.troupe.model.MemoryBudget;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.BidiShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInHandler;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.AsyncCallback;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.stream.stage.TimerGraphStageLogic;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sits between a connection without TLS, or after decryption, and the HTTP layer, and passes every
 * byte on.
 *
 * <ul>
 *   <li>A client has limited time and bytes for the first bytes of a connection, a request head or
 *       the preface of HTTP/2, and the same for the head of each later HTTP/1.1 request. A client
 *       that sends nothing, or sends it byte by byte, does not keep its connection.
 *   <li>An HTTP/1.1 connection without a request and without a byte is closed after a longer time.
 *   <li>Over HTTP/1.1 it reads one element ahead of the HTTP layer, which reads nothing while a
 *       response is pending. It therefore detects immediately that the client has closed its side
 *       ({@link ConnectionState#gone}). Calls that wait for other clients are cancelled then;
 *       responses in progress are still sent.
 * </ul>
 */
final class Http1TimeoutStage
    extends GraphStage<BidiShape<ByteString, ByteString, ByteString, ByteString>> {
  /** The same limit as for an HTTP/2 header block. */
  static final int MAX_HEAD_BYTES = Http2FrameLimits.MAX_HEADER_BLOCK_BYTES;

  /** Heads up to this size are part of the base cost of each connection. */
  private static final int SMALL_HEAD_BYTES = 4 << 10;

  /** Copies of a head that the HTTP layer holds while it reads it, as bytes and as fields. */
  private static final int COPIES_OF_HEAD = 3;

  private static final Logger LOG = LoggerFactory.getLogger(Http1TimeoutStage.class);
  private static final String HEAD = "head";
  private static final String IDLE = "idle";
  private static final String END = "end";

  /** Longest time from a handler to this stage for a response that is already built. */
  private static final Duration RESPONSE_DELAY = Duration.ofMillis(100);

  /**
   * Time limits of a client.
   *
   * @param head for a head; for the first head since the connection was opened, including the TLS
   *     handshake
   * @param idle between an HTTP/1.1 response and the next request
   */
  record Limits(Duration head, Duration idle) {
    /**
     * Long enough for the worst network, and for clients that keep connections for later requests.
     */
    static final Limits USUAL = new Limits(Duration.ofSeconds(20), Duration.ofMinutes(10));
  }

  private final Inlet<ByteString> fromServer = Inlet.create("Http1TimeoutStage.fromServer");
  private final Outlet<ByteString> toClient = Outlet.create("Http1TimeoutStage.toClient");
  private final Inlet<ByteString> fromClient = Inlet.create("Http1TimeoutStage.fromClient");
  private final Outlet<ByteString> toServer = Outlet.create("Http1TimeoutStage.toServer");
  private final BidiShape<ByteString, ByteString, ByteString, ByteString> shape =
      BidiShape.of(fromServer, toClient, fromClient, toServer);
  private final String client;
  private final ConnectionState connection;
  private final Limits limits;
  private final LongSupplier nanoTime;

  /**
   * Creates the stage of one connection.
   *
   * @param client its address for the log
   */
  Http1TimeoutStage(String client, ConnectionState connection, Limits limits) {
    this(client, connection, limits, System::nanoTime);
  }

  /** With a clock that measures only how long a connection was idle. */
  Http1TimeoutStage(
      String client, ConnectionState connection, Limits limits, LongSupplier nanoTime) {
    this.client = client;
    this.connection = connection;
    this.limits = limits;
    this.nanoTime = nanoTime;
  }

  @Override
  public BidiShape<ByteString, ByteString, ByteString, ByteString> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private final class Logic extends TimerGraphStageLogic {
    private final RequestFraming framing = new RequestFraming();

    /**
     * Share for the largest head, for the life of the connection: its request may wait for a
     * response.
     */
    private final MemoryBudget.Share head = connection.memory().share();

    private long countedHeadBytes = SMALL_HEAD_BYTES;
    private @Nullable ByteString ahead;
    private boolean ended;
    private boolean timed = true;
    private long lastByteNanos;
    private boolean moved;

    Logic() {
      super(shape);
      setHandler(fromServer, new FromServer());
      setHandler(toClient, new ToClient());
      setHandler(fromClient, new FromClient());
      setHandler(toServer, new ToServer());
    }

    @Override
    public void preStart() {
      scheduleOnce(HEAD, limits.head());
      AsyncCallback<String> close = createAsyncCallback(this::abort);
      connection.closedBy(close::invoke);
    }

    @Override
    public void postStop() {
      head.close();
      connection.closed();
    }

    private final class FromClient extends AbstractInHandler {
      @Override
      public void onPush() {
        ByteString part = grab(fromClient);
        connection.moved(part.size());
        if (!framing.isOther() && !isFine(part)) {
          return;
        }
        if (isAvailable(toServer)) {
          push(toServer, part);
          readAhead();
        } else {
          ahead = part;
        }
      }

      @Override
      public void onUpstreamFinish() {
        connection.gone();
        ended = true;
        if (ahead == null) {
          endOfClient();
        }
      }

      @Override
      public void onUpstreamFailure(Throwable failure) {
        connection.gone();
        fail(toServer, failure);
      }
    }

    private final class ToServer extends AbstractOutHandler {
      @Override
      public void onPull() {
        ByteString next = ahead;
        if (next == null) {
          pullOnce();
          return;
        }
        ahead = null;
        push(toServer, next);
        if (ended) {
          endOfClient();
        } else {
          readAhead();
        }
      }

      @Override
      public void onDownstreamFinish(Throwable cause) {
        cancel(fromClient, cause);
      }
    }

    private final class FromServer extends AbstractInHandler {
      @Override
      public void onPush() {
        // HTTP/2 does not need the time, and has many elements.
        if (!framing.isOther()) {
          lastByteNanos = nanoTime.getAsLong();
          moved = true;
        }
        ByteString part = grab(fromServer);
        connection.moved(part.size());
        push(toClient, part);
      }

      @Override
      public void onUpstreamFinish() {
        complete(toClient);
      }

      @Override
      public void onUpstreamFailure(Throwable failure) {
        fail(toClient, failure);
      }
    }

    private final class ToClient extends AbstractOutHandler {
      @Override
      public void onPull() {
        if (!isClosed(fromServer) && !hasBeenPulled(fromServer)) {
          pull(fromServer);
        }
      }

      @Override
      public void onDownstreamFinish(Throwable cause) {
        connection.gone();
        cancel(fromServer, cause);
      }
    }

    private void pullOnce() {
      if (!isClosed(fromClient) && !hasBeenPulled(fromClient)) {
        pull(fromClient);
      }
    }

    /**
     * The HTTP layer drops responses when its input completes. After complete requests, the input
     * therefore completes when their responses are sent: a client that only closed its side still
     * receives them.
     */
    private void endOfClient() {
      if (framing.isBetween() && !connection.isSwitched()) {
        moved = false;
        scheduleOnce(END, RESPONSE_DELAY);
      } else {
        complete(toServer);
      }
    }

    private void readAhead() {
      if (!framing.isOther()) {
        pullOnce();
      }
    }

    /** False once the connection is closed. */
    private boolean isFine(ByteString part) {
      long before = framing.heads();
      framing.received(part);
      lastByteNanos = nanoTime.getAsLong();
      if (framing.headBytes() > MAX_HEAD_BYTES) {
        end("sent more than " + MAX_HEAD_BYTES + " bytes and no request");
        return false;
      }
      if (!countHead()) {
        end("sends a large head while memory is short");
        return false;
      }
      boolean first = before == 0;
      if (timed && framing.heads() > before) {
        cancelTimer(HEAD);
        timed = false;
      }
      if (first && framing.heads() > 0 && !framing.isOther()) {
        scheduleOnce(IDLE, limits.idle());
      }
      if (!timed && framing.isInHead()) {
        scheduleOnce(HEAD, limits.head());
        timed = true;
      }
      return true;
    }

    private boolean countHead() {
      long largest = framing.largestHeadBytes();
      if (largest <= countedHeadBytes) {
        return true;
      }
      long more = largest - countedHeadBytes;
      countedHeadBytes = largest;
      try {
        head.take(COPIES_OF_HEAD * more);
        return true;
      } catch (MemoryBudget.Exceeded exceeded) {
        return false;
      }
    }

    @Override
    public void onTimer(Object key) {
      if (key.equals(HEAD) && ahead != null) {
        // The rest of the head may have arrived but is unread, because the HTTP layer is busy with
        // responses.
        scheduleOnce(HEAD, limits.head());
        return;
      }
      if (key.equals(HEAD)) {
        end("sent no request within " + limits.head().toMillis() + " ms");
        return;
      }
      if (key.equals(END)) {
        if (connection.isIdle() && isAvailable(toClient) && !moved) {
          complete(toServer);
        } else {
          endOfClient();
        }
        return;
      }
      if (framing.isOther()) {
        return;
      }
      long left =
          connection.isIdle()
              ? limits.idle().toNanos() - (nanoTime.getAsLong() - lastByteNanos)
              : limits.idle().toNanos();
      if (left <= 0) {
        end("was idle for " + limits.idle().toMillis() + " ms");
      } else {
        scheduleOnce(IDLE, Duration.ofNanos(Math.max(left, TimeUnit.MILLISECONDS.toNanos(1))));
      }
    }

    /**
     * The HTTP layer sees a completed input, because the failure is not its own; the socket is not
     * flushed.
     */
    private void abort(String reason) {
      LOG.debug("closing connection, client {} client={}", reason, client);
      connection.gone();
      complete(toServer);
      fail(toClient, new TimeoutException("the client " + reason));
      cancel(fromClient);
      cancel(fromServer);
    }

    private void end(String reason) {
      LOG.debug("closing connection, client {} client={}", reason, client);
      connection.gone();
      failStage(new TimeoutException("the client " + reason));
    }
  }
}
