package io.troupe.grpc.http;

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
 * Counts the answers of a stream, and once how it ended: by itself, by a failure, by its client. A
 * failure continues as a GrpcException.
 */
final class MeteredAnswers extends GraphStage<FlowShape<ByteString, ByteString>> {
  private final Inlet<ByteString> in = Inlet.create("MeteredAnswers.in");
  private final Outlet<ByteString> out = Outlet.create("MeteredAnswers.out");
  private final FlowShape<ByteString, ByteString> shape = FlowShape.of(in, out);
  private final MethodMeter meter;
  private final IntConsumer ended;

  /**
   * A stage for elements of whole frames.
   *
   * @param ended told the code of the status, once
   */
  MeteredAnswers(MethodMeter meter, IntConsumer ended) {
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
              // Its status is made once: what nobody expects is logged then.
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
