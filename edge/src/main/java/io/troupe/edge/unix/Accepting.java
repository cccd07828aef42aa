package io.troupe.edge.unix;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.SourceShape;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.AsyncCallback;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.stream.stage.TimerGraphStageLogic;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A source of accepted sockets. Accepts one socket per pull. Materialize it once. */
final class Accepting extends GraphStage<SourceShape<SocketChannel>> {
  private static final Logger LOG = LoggerFactory.getLogger(Accepting.class);

  /** Delay after a failure, most likely because too many files are open. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Outlet<SocketChannel> out = Outlet.create("Accepting.out");
  private final SourceShape<SocketChannel> shape = SourceShape.of(out);
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final ServerSocketChannel channel;
  private final SocketLoop loop;

  Accepting(ServerSocketChannel channel, SocketLoop loop) {
    this.channel = channel;
    this.loop = loop;
  }

  /** Completes the source. */
  void stop() {
    stopped.complete(null);
  }

  @Override
  public SourceShape<SocketChannel> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private final class Logic extends TimerGraphStageLogic {
    private final AsyncCallback<SocketChannel> accepted =
        createAsyncCallback(socket -> push(out, socket));
    private final AsyncCallback<Boolean> end = createAsyncCallback(ended -> completeStage());
    private final AsyncCallback<IOException> failed =
        createAsyncCallback(
            failure -> {
              LOG.warn("cannot accept connection on unix socket, retrying", failure);
              scheduleOnce("again", PAUSE);
            });
    private @Nullable SelectionKey key;

    Logic() {
      super(shape);
      setHandler(
          out,
          new AbstractOutHandler() {
            @Override
            public void onPull() {
              want();
            }
          });
    }

    @Override
    public void preStart() throws IOException {
      key = loop.register(channel, this::ready);
      CompletionStage<Void> stop = stopped;
      stop.thenRun(() -> end.invoke(true));
    }

    @Override
    public void onTimer(Object again) {
      want();
    }

    private void want() {
      if (key != null) {
        loop.want(key, SelectionKey.OP_ACCEPT);
      }
    }

    /** Called on the loop's thread. */
    private void ready(int operations, ByteBuffer buffer) {
      try {
        SocketChannel socket = channel.accept();
        if (socket == null) {
          want();
        } else {
          // The stage does not take the socket if it has just completed.
          accepted
              .invokeWithFeedbackCompletionStage(socket)
              .whenComplete(
                  (taken, failure) -> {
                    if (failure != null) {
                      close(socket);
                    }
                  });
        }
      } catch (ClosedChannelException closed) {
        LOG.trace("unix socket is closed", closed);
      } catch (IOException e) {
        failed.invoke(e);
      }
    }

    private static void close(SocketChannel socket) {
      try {
        socket.close();
      } catch (IOException e) {
        LOG.debug("cannot close unix socket", e);
      }
    }
  }
}
