package io.troupe.grpc.http;

import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * Lets a call lose interest in its request body. A body that is cancelled before its end makes
 * Pekko HTTP reset the whole HTTP/2 stream, and the response with its status would be lost: so what
 * is still sent is read and thrown away, up to a limit, until the client ends or resets its side.
 */
final class RequestDrain extends GraphStage<FlowShape<ByteString, ByteString>> {
  private final Inlet<ByteString> in = Inlet.create("RequestDrain.in");
  private final Outlet<ByteString> out = Outlet.create("RequestDrain.out");
  private final FlowShape<ByteString, ByteString> shape = FlowShape.of(in, out);
  private final long maxDroppedBytes;

  RequestDrain(long maxDroppedBytes) {
    this.maxDroppedBytes = maxDroppedBytes;
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
