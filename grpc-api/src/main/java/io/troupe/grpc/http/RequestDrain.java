package io.troupe.grpc.http;

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
 * Lets a call lose interest in its request body: what is still sent is read and thrown away until
 * the client ends or resets its side.
 *
 * <p>Over HTTP/1.1 only up to a limit; then the body is cancelled, and its connection ends with the
 * answer. A body of HTTP/2 is never cancelled: Pekko HTTP would reset its stream, so that the
 * answer with its status is lost, and if any of the answer waits to be sent, the whole connection
 * fails with a stack trace. What a client sends in vain there holds up nobody and is kept nowhere.
 */
final class RequestDrain extends GraphStage<FlowShape<ByteString, ByteString>> {
  private final Inlet<ByteString> in = Inlet.create("RequestDrain.in");
  private final Outlet<ByteString> out = Outlet.create("RequestDrain.out");
  private final FlowShape<ByteString, ByteString> shape = FlowShape.of(in, out);
  private final long maxDroppedBytes;

  private RequestDrain(long maxDroppedBytes) {
    this.maxDroppedBytes = maxDroppedBytes;
  }

  /**
   * The body of a request, of which a call may take as much as it wants.
   *
   * @param maxDroppedBytes what is read in vain over HTTP/1.1
   */
  static Source<ByteString, Object> body(HttpRequest request, long maxDroppedBytes) {
    return request
        .entity()
        .getDataBytes()
        .via(new RequestDrain(ClientPort.isHttp2(request) ? Long.MAX_VALUE : maxDroppedBytes));
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
