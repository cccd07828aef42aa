package io.troupe.edge.calls;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.RpcMetrics.MethodMeter;
import java.util.function.IntConsumer;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * Counts the response messages of a stream, and once its outcome: completion, failure, or
 * cancellation by the client. Passes a failure on as a GrpcException.
 */
public final class MeteredResponses extends GraphStage<FlowShape<ByteString, ByteString>> {
  private final Inlet<ByteString> in = Inlet.create("MeteredResponses.in");
  private final Outlet<ByteString> out = Outlet.create("MeteredResponses.out");
  private final FlowShape<ByteString, ByteString> shape = FlowShape.of(in, out);
  private final MethodMeter meter;
  private final IntConsumer ended;

  /**
   * Creates a stage for elements of whole frames.
   *
   * @param ended receives the status code, once
   */
  public MeteredResponses(MethodMeter meter, IntConsumer ended) {
    this.meter = meter;
    this.ended = ended;
  }

  @Override
  public FlowShape<ByteString, ByteString> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private static int messages(byte[] frames) {
    int count = 0;
    for (long at = 0; at + GrpcFrames.HEADER <= frames.length; count++) {
      at += GrpcFrames.HEADER + GrpcFrames.length(frames, (int) at);
    }
    return count;
  }

  private final class Logic extends GraphStageLogic {
    private final long startNanos = System.nanoTime();
    private int code = GrpcStatus.CANCELED;

    Logic() {
      super(shape);
      setHandlers(
          in,
          out,
          new AbstractInOutHandler() {
            @Override
            public void onPush() {
              ByteString frames = grab(in);
              int messages = messages(frames.toArrayUnsafe());
              meter.sent(messages, frames.size() - (long) messages * GrpcFrames.HEADER);
              push(out, frames);
            }

            @Override
            public void onPull() {
              pull(in);
            }

            @Override
            public void onUpstreamFinish() {
              code = GrpcStatus.OK.code();
              completeStage();
            }

            @Override
            public void onUpstreamFailure(Throwable failure) {
              // Converted once: the conversion logs unexpected failures.
              GrpcStatus status = GrpcResponses.status(failure);
              code = status.code();
              failStage(new GrpcException(status.code(), status.message()));
            }
          });
    }

    @Override
    public void postStop() {
      meter.ended(code, System.nanoTime() - startNanos);
      ended.accept(code);
    }
  }
}
