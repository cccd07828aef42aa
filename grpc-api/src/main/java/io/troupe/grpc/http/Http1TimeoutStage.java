package io.troupe.grpc.http;

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
 * Sits between a connection without TLS (any more) and the HTTP layer, and passes every byte on.
 *
 * <ul>
 *   <li>A client has some time and some bytes for its first words, a request's head or the preface
 *       of HTTP/2, and as much for the head of each later request of HTTP/1.1: who says nothing, or
 *       says it letter by letter, does not keep a connection.
 *   <li>A connection of HTTP/1.1 without a request and without a byte ends after a longer time.
 *   <li>Over HTTP/1.1 it reads one part ahead of the HTTP layer, which reads nothing while an
 *       answer is waited for: so the end of a client is known at once ({@link ConnectionState#gone}).
 *       What waits for others is given up then; answers that are in progress still go out.
 * </ul>
 */
final class Http1TimeoutStage
    extends GraphStage<BidiShape<ByteString, ByteString, ByteString, ByteString>> {
  /** As much as a header block of HTTP/2 may have. */
  static final int MAX_HEAD_BYTES = Http2FrameLimits.MAX_HEADER_BLOCK_BYTES;

  /** Heads up to this size are part of what each connection costs. */
  private static final int SMALL_HEAD_BYTES = 4 << 10;

  /** How often the HTTP layer has a head in memory: as bytes, and as fields, while it is read. */
  private static final int COPIES_OF_HEAD = 3;

  private static final Logger LOG = LoggerFactory.getLogger(Http1TimeoutStage.class);
  private static final String HEAD = "head";
  private static final String IDLE = "idle";
  private static final String END = "end";

  /** How long an answer that is made may be in progress from its handler to here. */
  private static final Duration ANSWER_COMES = Duration.ofMillis(100);

  /**
   * How long a client may take.
   *
   * @param head for a head; for the first one since the connection began, a handshake of TLS
   *     included
   * @param idle between an answer of HTTP/1.1 and the next request
   */
  record Limits(Duration head, Duration idle) {
    /** Long enough for the worst network, and for clients that keep connections for later. */
    static final Limits USUAL = new Limits(Duration.ofSeconds(20), Duration.ofMinutes(10));
  }

  private final Inlet<ByteString> fromServer = Inlet.create("Http1TimeoutStage.fromServer");
  private final Outlet<ByteString> toClient = Outlet.create("Http1TimeoutStage.toClient");
  private final Inlet<ByteString> fromClient = Inlet.create("Http1TimeoutStage.fromClient");
  private final Outlet<ByteString> toServer = Outlet.create("Http1TimeoutStage.toServer");
  private final BidiShape<ByteString, ByteString, ByteString, ByteString> shape =
      BidiShape.of(fromServer, toClient, fromClient, toServer);
  private final String client;
  private final ConnectionState conversation;
  private final Limits limits;
  private final LongSupplier nanoTime;

  /**
   * For one connection.
   *
   * @param client names it in the log
   */
  Http1TimeoutStage(String client, ConnectionState conversation, Limits limits) {
    this(client, conversation, limits, System::nanoTime);
  }

  /** With a clock, which is only asked how long a connection was idle. */
  Http1TimeoutStage(
      String client, ConnectionState conversation, Limits limits, LongSupplier nanoTime) {
    this.client = client;
    this.conversation = conversation;
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

    /** For the largest head, while the connection lasts: its request may wait for a response. */
    private final MemoryBudget.Share head = conversation.memory().share();

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
      conversation.closedBy(close::invoke);
    }

    @Override
    public void postStop() {
      head.close();
      conversation.closed();
    }

    private final class FromClient extends AbstractInHandler {
      @Override
      public void onPush() {
        ByteString part = grab(fromClient);
        conversation.moved(part.size());
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
        conversation.gone();
        ended = true;
        if (ahead == null) {
          endOfClient();
        }
      }

      @Override
      public void onUpstreamFailure(Throwable failure) {
        conversation.gone();
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
        // Nobody asks for it where HTTP/2 is spoken, and there are many parts.
        if (!framing.isOther()) {
          lastByteNanos = nanoTime.getAsLong();
          moved = true;
        }
        ByteString part = grab(fromServer);
        conversation.moved(part.size());
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
        conversation.gone();
        cancel(fromServer, cause);
      }
    }

    private void pullOnce() {
      if (!isClosed(fromClient) && !hasBeenPulled(fromClient)) {
        pull(fromClient);
      }
    }

    /**
     * The HTTP layer drops answers when it is told the end, so after whole requests it is told when
     * their answers have gone out: who only says no more still gets them.
     */
    private void endOfClient() {
      if (framing.isBetween() && !conversation.isSwitched()) {
        moved = false;
        scheduleOnce(END, ANSWER_COMES);
      } else {
        complete(toServer);
      }
    }

    private void readAhead() {
      if (!framing.isOther()) {
        pullOnce();
      }
    }

    /** False once it ended. */
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
        // The rest may have come: nobody has looked, because the HTTP layer is busy with answers.
        scheduleOnce(HEAD, limits.head());
        return;
      }
      if (key.equals(HEAD)) {
        end("sent no request within " + limits.head().toMillis() + " ms");
        return;
      }
      if (key.equals(END)) {
        if (conversation.isIdle() && isAvailable(toClient) && !moved) {
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
          conversation.isIdle()
              ? limits.idle().toNanos() - (nanoTime.getAsLong() - lastByteNanos)
              : limits.idle().toNanos();
      if (left <= 0) {
        end("was idle for " + limits.idle().toMillis() + " ms");
      } else {
        scheduleOnce(IDLE, Duration.ofNanos(Math.max(left, TimeUnit.MILLISECONDS.toNanos(1))));
      }
    }

    /** The HTTP layer sees an end, for it is no failure of its own; the socket is not flushed. */
    private void abort(String reason) {
      LOG.debug("closing a connection: the client {} client={}", reason, client);
      conversation.gone();
      complete(toServer);
      fail(toClient, new TimeoutException("the client " + reason));
      cancel(fromClient);
      cancel(fromServer);
    }

    private void end(String reason) {
      LOG.debug("closing a connection: the client {} client={}", reason, client);
      conversation.gone();
      failStage(new TimeoutException("the client " + reason));
    }
  }
}
