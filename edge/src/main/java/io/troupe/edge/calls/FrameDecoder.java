package io.troupe.edge.calls;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * Splits a request body into messages. Holds at most one incomplete message and checks its
 * announced length before it keeps any of it. Emits one message per pull, so unconsumed messages
 * stay with the client (flow control).
 */
public final class FrameDecoder extends GraphStage<FlowShape<ByteString, Bytes>> {
  private final Inlet<ByteString> in = Inlet.create("FrameDecoder.in");
  private final Outlet<Bytes> out = Outlet.create("FrameDecoder.out");
  private final FlowShape<ByteString, Bytes> shape = FlowShape.of(in, out);
  private final String encoding;
  private final int maxBytes;
  private final MemoryBudget.Holder memory;

  /**
   * Creates a decoder.
   *
   * @param memory counts the incomplete message
   */
  public FrameDecoder(String encoding, int maxBytes, MemoryBudget.Holder memory) {
    this.encoding = encoding;
    this.maxBytes = maxBytes;
    this.memory = memory;
  }

  @Override
  public FlowShape<ByteString, Bytes> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private final class Logic extends GraphStageLogic {
    private final MemoryBudget.Share share = memory.share();
    private ByteString buffer = ByteString.emptyByteString();

    Logic() {
      super(shape);
      setHandlers(
          in,
          out,
          new AbstractInOutHandler() {
            @Override
            public void onPush() {
              ByteString more = grab(in);
              buffer = buffer.concat(more);
              try {
                share.take(more.size());
              } catch (MemoryBudget.Exceeded exceeded) {
                failStage(exceeded);
                return;
              }
              emitOrPull();
            }

            @Override
            public void onPull() {
              emitOrPull();
            }

            @Override
            public void onUpstreamFinish() {
              if (buffer.isEmpty()) {
                completeStage();
              } else if (isAvailable(out)) {
                emitOrPull();
              }
            }
          });
    }

    @Override
    public void postStop() {
      share.close();
      // The stage may outlive its call: it drops what arrives after the call.
      buffer = ByteString.emptyByteString();
    }

    private void emitOrPull() {
      try {
        Bytes message = cut();
        if (message != null) {
          push(out, message);
          if (isClosed(in) && buffer.isEmpty()) {
            completeStage();
          }
        } else if (isClosed(in)) {
          failStage(
              new GrpcException(GrpcStatus.INTERNAL, "grpc: the stream ended inside a message"));
        } else if (!hasBeenPulled(in)) {
          pull(in);
        }
      } catch (GrpcException refused) {
        failStage(refused);
      }
    }

    private @org.jspecify.annotations.Nullable Bytes cut() {
      if (buffer.size() < GrpcFrames.HEADER) {
        return null;
      }
      byte[] header = buffer.take(GrpcFrames.HEADER).toArray();
      long length = GrpcFrames.length(header, 0);
      GrpcFrames.checkSize(length, maxBytes);
      if (buffer.size() < GrpcFrames.HEADER + length) {
        return null;
      }
      byte[] content =
          buffer.slice(GrpcFrames.HEADER, (int) (GrpcFrames.HEADER + length)).toArray();
      buffer = buffer.drop((int) (GrpcFrames.HEADER + length));
      share.shrinkTo(buffer.size());
      return GrpcFrames.payload(header[0], Bytes.wrap(content), encoding, maxBytes);
    }
  }
}
