package io.troupe.edge.unix;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.StreamTcpException;
import org.apache.pekko.stream.SubscriptionWithCancelException;
import org.apache.pekko.stream.stage.AbstractInHandler;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.AsyncCallback;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One accepted socket as a flow: it writes its input to the socket and emits the bytes that it
 * reads. It closes like a connection of Pekko's TCP without half-close: when the client closes its
 * side, the output completes, and input is still written. When the input completes, the socket is
 * closed after all bytes are written. Materialize it once.
 */
final class UnixConnection extends GraphStage<FlowShape<ByteString, ByteString>> {
  private static final Logger LOG = LoggerFactory.getLogger(UnixConnection.class);

  private final Inlet<ByteString> in = Inlet.create("UnixConnection.in");
  private final Outlet<ByteString> out = Outlet.create("UnixConnection.out");
  private final FlowShape<ByteString, ByteString> shape = FlowShape.of(in, out);
  private final SocketChannel channel;
  private final SocketLoop loop;

  UnixConnection(SocketChannel channel, SocketLoop loop) {
    this.channel = channel;
    this.loop = loop;
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
    private final AsyncCallback<ByteString> received = createAsyncCallback(this::onReceived);
    private final AsyncCallback<Boolean> ended = createAsyncCallback(end -> complete(out));
    private final AsyncCallback<Boolean> writable = createAsyncCallback(ready -> write());
    private final AsyncCallback<IOException> failed = createAsyncCallback(this::broken);
    private @Nullable SelectionKey key;

    /** The unwritten rest of the last element; empty when all is written. */
    private ByteBuffer[] rest = {};

    private boolean lastWritten;

    Logic() {
      super(shape);
      setHandler(
          in,
          new AbstractInHandler() {
            @Override
            public void onPush() {
              rest = buffers(grab(in));
              write();
            }

            @Override
            public void onUpstreamFinish() {
              closeWhenWritten();
            }
          });
      setHandler(
          out,
          new AbstractOutHandler() {
            @Override
            public void onPull() {
              want(SelectionKey.OP_READ);
            }

            @Override
            public void onDownstreamFinish(Throwable cause) {
              if (cause instanceof SubscriptionWithCancelException.NonFailureCancellation) {
                closeWhenWritten();
              } else {
                failStage(cause);
              }
            }
          });
    }

    @Override
    public void preStart() {
      // Runs until all is written, even if the output is cancelled and the input has completed.
      setKeepGoing(true);
      try {
        key = loop.register(channel, this::ready);
        pull(in);
      } catch (IOException e) {
        failStage(e);
      }
    }

    @Override
    public void postStop() {
      try {
        channel.close();
      } catch (IOException e) {
        LOG.debug("cannot close unix socket", e);
      }
      loop.forget();
    }

    private void want(int operation) {
      if (key != null) {
        loop.want(key, operation);
      }
    }

    /** Called on the loop's thread. */
    private void ready(int operations, ByteBuffer buffer) {
      if ((operations & SelectionKey.OP_WRITE) != 0) {
        writable.invoke(true);
      }
      if ((operations & SelectionKey.OP_READ) == 0) {
        return;
      }
      try {
        int read = channel.read(buffer);
        if (read > 0) {
          received.invoke(ByteString.fromByteBuffer(buffer.flip()));
        } else if (read < 0) {
          ended.invoke(true);
        } else {
          want(SelectionKey.OP_READ);
        }
      } catch (IOException e) {
        failed.invoke(e);
      }
    }

    private void onReceived(ByteString bytes) {
      if (!isClosed(out)) {
        push(out, bytes);
      }
    }

    private static ByteBuffer[] buffers(ByteString bytes) {
      List<ByteBuffer> parts = new ArrayList<>();
      bytes.getByteBuffers().forEach(parts::add);
      return parts.toArray(ByteBuffer[]::new);
    }

    private void write() {
      try {
        while (hasRest()) {
          if (channel.write(rest) == 0) {
            want(SelectionKey.OP_WRITE);
            return;
          }
        }
      } catch (IOException e) {
        broken(e);
        return;
      }
      rest = new ByteBuffer[0];
      if (lastWritten || isClosed(in)) {
        completeStage();
      } else {
        pull(in);
      }
    }

    /** Fails like Pekko's TCP: the stages above recognize that exception and do not log it. */
    private void broken(IOException failure) {
      StreamTcpException broken =
          new StreamTcpException("The connection closed with error: " + failure.getMessage());
      broken.initCause(failure);
      failStage(broken);
    }

    private boolean hasRest() {
      return rest.length > 0 && rest[rest.length - 1].hasRemaining();
    }

    private void closeWhenWritten() {
      lastWritten = true;
      if (!hasRest()) {
        completeStage();
      }
    }
  }
}
