package io.troupe.edge.calls;

import io.troupe.edge.engine.HttpLayer;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.stream.stage.AbstractInOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * Reads and drops the rest of a request body that its call no longer reads, until the client ends
 * or resets its side.
 *
 * <p>Over HTTP/1.1 only up to a limit; then the body is cancelled, and its connection is closed
 * after the response. A body of HTTP/2 is never cancelled: Pekko HTTP would reset its stream and
 * lose the response with its status. If part of the response were still unsent, the whole
 * connection would fail with a stack trace. The dropped bytes of an HTTP/2 client block no other
 * client and are not kept.
 */
public final class RequestDrain extends GraphStage<FlowShape<ByteString, ByteString>> {
  private final Inlet<ByteString> in = Inlet.create("RequestDrain.in");
  private final Outlet<ByteString> out = Outlet.create("RequestDrain.out");
  private final FlowShape<ByteString, ByteString> shape = FlowShape.of(in, out);
  private final long maxDroppedBytes;

  private RequestDrain(long maxDroppedBytes) {
    this.maxDroppedBytes = maxDroppedBytes;
  }

  /**
   * The body of a request, of which a call may read any part.
   *
   * @param maxDroppedBytes limit of the bytes that are read and dropped over HTTP/1.1
   */
  public static Source<ByteString, Object> body(HttpRequest request, long maxDroppedBytes) {
    return request
        .entity()
        .getDataBytes()
        .via(new RequestDrain(HttpLayer.isHttp2(request) ? Long.MAX_VALUE : maxDroppedBytes));
  }

  @Override
  public FlowShape<ByteString, ByteString> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private final class Logic extends GraphStageLogic {
    private long dropped;

    Logic() {
      super(shape);
      setHandlers(
          in,
          out,
          new AbstractInOutHandler() {
            @Override
            public void onPush() {
              ByteString bytes = grab(in);
              if (!isClosed(out)) {
                push(out, bytes);
                return;
              }
              dropped += bytes.size();
              if (dropped > maxDroppedBytes) {
                completeStage();
              } else {
                pull(in);
              }
            }

            @Override
            public void onPull() {
              pull(in);
            }

            @Override
            public void onDownstreamFinish(Throwable cause) {
              if (isClosed(in)) {
                completeStage();
              } else if (!hasBeenPulled(in)) {
                pull(in);
              }
            }
          });
    }
  }
}
