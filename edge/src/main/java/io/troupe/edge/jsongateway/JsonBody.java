package io.troupe.edge.jsongateway;

import io.troupe.edge.json.JsonObjects;
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
import org.jspecify.annotations.Nullable;

/**
 * Splits a request body into its JSON objects, one per pull. Fails with the error of {@link
 * JsonObjects} for invalid input, and if the body ends inside an object.
 */
final class JsonBody extends GraphStage<FlowShape<ByteString, Bytes>> {
  private final Inlet<ByteString> in = Inlet.create("JsonBody.in");
  private final Outlet<Bytes> out = Outlet.create("JsonBody.out");
  private final FlowShape<ByteString, Bytes> shape = FlowShape.of(in, out);
  private final long maxBytes;
  private final MemoryBudget.Holder memory;

  /**
   * Creates a stage.
   *
   * @param memory counts the incomplete object
   */
  JsonBody(long maxBytes, MemoryBudget.Holder memory) {
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
    private final JsonObjects objects = new JsonObjects(maxBytes);
    private final MemoryBudget.Share share = memory.share();

    Logic() {
      super(shape);
      setHandlers(
          in,
          out,
          new AbstractInOutHandler() {
            @Override
            public void onPush() {
              byte[] more = grab(in).toArrayUnsafe();
              objects.give(more);
              try {
                share.take(more.length);
              } catch (MemoryBudget.Exceeded exceeded) {
                failStage(exceeded);
                return;
              }
              advance();
            }

            @Override
            public void onPull() {
              advance();
            }

            @Override
            public void onUpstreamFinish() {
              if (isAvailable(out)) {
                advance();
              }
            }
          });
    }

    @Override
    public void postStop() {
      share.close();
      // The stage may outlive its call: it drops what arrives after the call.
      objects.clear();
    }

    private void advance() {
      @Nullable Bytes object;
      try {
        object = objects.next();
      } catch (GrpcException wrong) {
        failStage(wrong);
        return;
      }
      if (object != null) {
        share.shrinkTo(objects.held());
        push(out, object);
      } else if (!isClosed(in)) {
        pull(in);
      } else if (objects.isInside()) {
        failStage(new GrpcException(GrpcStatus.INVALID_ARGUMENT, "unexpected EOF"));
      } else {
        completeStage();
      }
    }
  }
}
