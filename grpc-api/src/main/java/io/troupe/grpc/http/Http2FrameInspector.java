package io.troupe.grpc.http;

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
 * Sits between a client connection and the HTTP layer, passes every byte on, closes connections
 * that break a rule of {@link Http2FrameLimits}, and notifies callers whose stream was reset. To the
 * server's first SETTINGS it adds the limit of header blocks, which the HTTP layer does not have.
 */
final class Http2FrameInspector
    extends GraphStage<BidiShape<ByteString, ByteString, ByteString, ByteString>> {
  private static final Logger LOG = LoggerFactory.getLogger(Http2FrameInspector.class);

  /** How long a client that does not read keeps its connection after a breach. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  private final Inlet<ByteString> fromServer = Inlet.create("Http2FrameInspector.fromServer");
  private final Outlet<ByteString> toClient = Outlet.create("Http2FrameInspector.toClient");
  private final Inlet<ByteString> fromClient = Inlet.create("Http2FrameInspector.fromClient");
  private final Outlet<ByteString> toServer = Outlet.create("Http2FrameInspector.toServer");
  private final BidiShape<ByteString, ByteString, ByteString, ByteString> shape =
      BidiShape.of(fromServer, toClient, fromClient, toServer);
  private final String client;
  private final ConnectionState conversation;
  private final ConnectionLimits limits;
  private final boolean policesPings;
  private final long minPingNanos;

  /**
   * A guard for one connection.
   *
   * @param client names it in the log
   * @param conversation asks for streams that are reset
   * @param limits of the connection
   * @param policesPings whether T4 holds for it
   * @param minPingNanos least time between two pings while a stream is open
   */
  Http2FrameInspector(
      String client,
      ConnectionState conversation,
      ConnectionLimits limits,
      boolean policesPings,
      long minPingNanos) {
    this.client = client;
    this.conversation = conversation;
    this.limits = limits;
    this.policesPings = policesPings;
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
            policesPings,
            minPingNanos,
            new ResetRate(limits.streams(), limits.resetsPerSecond()),
            conversation.memory().share(),
            this::resetByClient);

    private boolean advertised;

    /** By stream: what to do when it is reset. */
    private final Map<Integer, Runnable> waiting = new HashMap<>();

    /** Runs where frames are seen, in the order of the calls. */
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
      conversation.seenBy(this);
    }

    @Override
    public void whenReset(int stream, Runnable action) {
      here.invoke(
          () -> {
            // It may have been reset before anybody answered it.
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
      failStage(new TimeoutException("the client does not read why its connection is closed"));
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
          bytes = ServerSettings.withHeaderLimit(bytes, Http2FrameLimits.MAX_HEADER_BLOCK_BYTES);
        }
        push(toClient, bytes);
        if (over) {
          LOG.debug("closing a connection after an error of it client={}", client);
          completeStage();
        }
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
          // A client that pings has wrong settings; the others may be many attackers.
          LOG.atLevel(breach == Http2FrameLimits.Breach.PINGS ? Level.WARN : Level.DEBUG)
              .log("client {}, closing its connection client={}", breach.text(), client);
          complete(toServer);
          scheduleOnce(LAST_WORDS, LAST_WORDS);
          emit(toClient, ByteString.fromArrayUnsafe(policy.goAway(breach)), () -> completeStage());
        }
      }

      @Override
      public void onUpstreamFinish() {
        complete(toServer);
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
