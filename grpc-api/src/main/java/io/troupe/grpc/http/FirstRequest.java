package io.troupe.grpc.http;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.stream.stage.TimerGraphStageLogic;
import org.apache.pekko.util.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes on what a client sends, if it says within a time and a number of bytes what it wants: who
 * opens a connection and says nothing, or says it letter by letter, does not keep it. The head of
 * an HTTP/1.1 request and the preface of HTTP/2 both end with an empty line, so that is what is
 * waited for.
 */
final class FirstRequest extends GraphStage<FlowShape<ByteString, ByteString>> {
  /** Long enough for the worst network, a handshake of TLS included. */
  static final Duration LIMIT = Duration.ofSeconds(20);

  /** More than the HTTP layer takes of a head. */
  static final int MAX_BYTES = 256 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(FirstRequest.class);
  private static final byte[] EMPTY_LINE = {'\r', '\n', '\r', '\n'};

  private final Inlet<ByteString> in = Inlet.create("FirstRequest.in");
  private final Outlet<ByteString> out = Outlet.create("FirstRequest.out");
  private final FlowShape<ByteString, ByteString> shape = FlowShape.of(in, out);
  private final Object client;
  private final Duration limit;

  /**
   * For one connection.
   *
   * @param client names it in the log
   */
  FirstRequest(Object client, Duration limit) {
    this.client = client;
    this.limit = limit;
  }

  @Override
  public FlowShape<ByteString, ByteString> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private final class Logic extends TimerGraphStageLogic {
    private boolean said;
    private int matched;
    private int bytes;

    Logic() {
      super(shape);
      setHandlers(
          in,
          out,
          new AbstractInOutHandler() {
            @Override
            public void onPush() {
              ByteString part = grab(in);
              if (said || isFine(part)) {
                push(out, part);
              }
            }

            @Override
            public void onPull() {
              pull(in);
            }
          });
    }

    @Override
    public void preStart() {
      scheduleOnce("limit", limit);
    }

    /** False once it ended. */
    private boolean isFine(ByteString part) {
      bytes += part.size();
      for (int i = 0; i < part.size() && matched < EMPTY_LINE.length; i++) {
        byte next = part.apply(i);
        if (next == EMPTY_LINE[matched]) {
          matched++;
        } else {
          matched = next == EMPTY_LINE[0] ? 1 : 0;
        }
      }
      if (matched == EMPTY_LINE.length) {
        said = true;
        cancelTimer("limit");
      } else if (bytes > MAX_BYTES) {
        end("sent more than " + MAX_BYTES + " bytes and no request");
        return false;
      }
      return true;
    }

    @Override
    public void onTimer(Object key) {
      end("sent no request within " + limit.toMillis() + " ms");
    }

    private void end(String reason) {
      LOG.debug("closing a connection: the client {} client={}", reason, client);
      failStage(new TimeoutException("the client " + reason));
    }
  }
}
