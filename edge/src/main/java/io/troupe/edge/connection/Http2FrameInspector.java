package io.troupe.edge.connection;

import io.troupe.edge.frames.Http2FrameLimits;
import io.troupe.edge.frames.ResetRate;
import io.troupe.edge.frames.SettingsFrame;
import io.troupe.model.MemoryBudget;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.BidiShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.StreamTcpException;
import org.apache.pekko.stream.stage.AbstractInHandler;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.AsyncCallback;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.stream.stage.TimerGraphStageLogic;
import org.apache.pekko.util.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Sits between a client connection and the HTTP layer and passes every byte on. It closes
 * connections that break a rule of {@link Http2FrameLimits}, and notifies callers whose stream was
 * reset. To the server's first SETTINGS frame it adds the limit of header blocks, which the HTTP
 * layer does not support.
 */
final class Http2FrameInspector
    extends GraphStage<BidiShape<ByteString, ByteString, ByteString, ByteString>> {
  private static final Logger LOG = LoggerFactory.getLogger(Http2FrameInspector.class);

  /**
   * Time after which a connection that broke a rule is closed if its client does not read the
   * GOAWAY.
   */
  private static final Duration GOAWAY_TIMEOUT = Duration.ofSeconds(5);

  private final Inlet<ByteString> fromServer = Inlet.create("Http2FrameInspector.fromServer");
  private final Outlet<ByteString> toClient = Outlet.create("Http2FrameInspector.toClient");
  private final Inlet<ByteString> fromClient = Inlet.create("Http2FrameInspector.fromClient");
  private final Outlet<ByteString> toServer = Outlet.create("Http2FrameInspector.toServer");
  private final BidiShape<ByteString, ByteString, ByteString, ByteString> shape =
      BidiShape.of(fromServer, toClient, fromClient, toServer);
  private final String client;
  private final ConnectionState connection;
  private final ConnectionLimits limits;
  private final boolean enforcesPings;
  private final long minPingNanos;

  /**
   * Creates the stage of one connection.
   *
   * @param client its address for the log
   * @param connection registers actions for streams that are reset
   * @param limits of the connection
   * @param enforcesPings whether T4 applies to it
   * @param minPingNanos minimum time between two pings while a stream is open
   */
  Http2FrameInspector(
      String client,
      ConnectionState connection,
      ConnectionLimits limits,
      boolean enforcesPings,
      long minPingNanos) {
    this.client = client;
    this.connection = connection;
    this.limits = limits;
    this.enforcesPings = enforcesPings;
    this.minPingNanos = minPingNanos;
  }

  @Override
  public BidiShape<ByteString, ByteString, ByteString, ByteString> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private final class Logic extends TimerGraphStageLogic implements ConnectionState.Streams {
    private final Http2FrameLimits policy =
        new Http2FrameLimits(
            enforcesPings,
            minPingNanos,
            new ResetRate(limits.streams(), limits.resetsPerSecond()),
            connection.memory().share(),
            this::resetByClient);

    private boolean advertised;

    /** Whether the client gets a GOAWAY; the end of the HTTP layer must not replace it. */
    private boolean closing;

    /** By stream: the action to run when it is reset. */
    private final Map<Integer, Runnable> waiting = new HashMap<>();

    /** Runs an action on the stage's thread, in the order of the calls. */
    private final AsyncCallback<Runnable> here = createAsyncCallback(Runnable::run);

    Logic() {
      super(shape);
      setHandler(fromServer, new FromServer());
      setHandler(toClient, new PullOn(toClient, fromServer));
      setHandler(fromClient, new FromClient());
      setHandler(toServer, new PullOn(toServer, fromClient));
    }

    @Override
    public void preStart() {
      connection.seenBy(this);
    }

    @Override
    public void whenReset(int stream, Runnable action) {
      here.invoke(
          () -> {
            // The stream may have been reset before its call registered the action.
            if (policy.isOpen(stream)) {
              waiting.put(stream, action);
            } else {
              action.run();
            }
          });
    }

    @Override
    public void postStop() {
      policy.closed();
    }

    @Override
    public void holds(int stream, MemoryBudget.Share share) {
      policy.holds(stream, share);
    }

    @Override
    public boolean hasOpen() {
      return policy.hasOpen();
    }

    @Override
    public boolean isOpen(int stream) {
      return policy.isOpen(stream);
    }

    @Override
    public void forget(int stream) {
      here.invoke(() -> waiting.remove(stream));
    }

    @Override
    public void onTimer(Object key) {
      failStage(new TimeoutException("the client did not read the GOAWAY of its connection"));
    }

    /**
     * Ends what the HTTP layer receives. Inside a frame it would report a fault of its own to each
     * open call; the failure of a connection ends them as those of a client that left.
     */
    private void endRequests() {
      if (policy.isInsideFrame()) {
        fail(toServer, new StreamTcpException("connection closed inside a frame"));
      } else {
        complete(toServer);
      }
    }

    private void resetByClient(int stream) {
      Runnable action = waiting.remove(stream);
      if (action != null) {
        action.run();
      }
    }

    private final class FromServer extends AbstractInHandler {
      @Override
      public void onPush() {
        ByteString bytes = grab(fromServer);
        boolean over = false;
        long now = System.nanoTime();
        for (ByteBuffer part : bytes.getByteBuffers()) {
          over = policy.sent(part, now);
        }
        if (!advertised) {
          advertised = true;
          bytes = SettingsFrame.withHeaderLimit(bytes, Http2FrameLimits.MAX_HEADER_BLOCK_BYTES);
        }
        push(toClient, bytes);
        if (over) {
          LOG.debug("closing connection after a protocol error of the client client={}", client);
          endRequests();
          completeStage();
        }
      }

      @Override
      public void onUpstreamFinish() {
        complete(toClient);
      }

      @Override
      public void onUpstreamFailure(Throwable failure) {
        if (!closing) {
          fail(toClient, failure);
        }
      }
    }

    private final class FromClient extends AbstractInHandler {
      @Override
      public void onPush() {
        ByteString bytes = grab(fromClient);
        Http2FrameLimits.Breach breach = null;
        long now = System.nanoTime();
        for (ByteBuffer part : bytes.getByteBuffers()) {
          breach = policy.received(part, now);
        }
        if (breach == null) {
          push(toServer, bytes);
        } else {
          // A client that pings too often has wrong settings; the other breaches may come from many
          // attackers.
          LOG.atLevel(breach == Http2FrameLimits.Breach.PINGS ? Level.WARN : Level.DEBUG)
              .log("closing connection, client {} client={}", breach.text(), client);
          closing = true;
          endRequests();
          scheduleOnce(GOAWAY_TIMEOUT, GOAWAY_TIMEOUT);
          emit(toClient, ByteString.fromArrayUnsafe(policy.goAway(breach)), () -> completeStage());
        }
      }

      @Override
      public void onUpstreamFinish() {
        endRequests();
      }

      @Override
      public void onUpstreamFailure(Throwable failure) {
        fail(toServer, failure);
      }
    }

    private final class PullOn extends AbstractOutHandler {
      private final Outlet<ByteString> out;
      private final Inlet<ByteString> in;

      PullOn(Outlet<ByteString> out, Inlet<ByteString> in) {
        this.out = out;
        this.in = in;
      }

      @Override
      public void onPull() {
        if (!isClosed(in) && !hasBeenPulled(in)) {
          pull(in);
        }
      }

      @Override
      public void onDownstreamFinish(Throwable cause) {
        LOG.trace("{} was cancelled", out);
        cancel(in, cause);
      }
    }
  }
}
