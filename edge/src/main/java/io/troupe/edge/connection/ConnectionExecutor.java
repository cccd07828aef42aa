package io.troupe.edge.connection;

import io.troupe.protocol.ReplyBatch;
import io.troupe.server.ReplyExecutor;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInOutHandler;
import org.apache.pekko.stream.stage.AsyncCallback;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks as part of the stream of one connection, in order, one at a time. A reply is thus
 * converted, measured and encoded on the thread that sends it, and the actor that replies does not
 * wait. Tasks that follow the replies of one batch run together, so that their responses leave
 * together.
 *
 * <p>Elements pass this stage unchanged. Once it has stopped, tasks run on the thread that brings
 * them: none is lost. Materialize it once.
 */
final class ConnectionExecutor<T> extends GraphStage<FlowShape<T, T>> implements ReplyExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionExecutor.class);

  private final Inlet<T> in = Inlet.create("ConnectionExecutor.in");
  private final Outlet<T> out = Outlet.create("ConnectionExecutor.out");
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean woken = new AtomicBoolean();

  /** One object for all batches: each runs it once. */
  private final Runnable wakeUp = this::wake;

  private volatile @Nullable AsyncCallback<ConnectionExecutor<T>> wake;
  private volatile boolean stopped;

  @Override
  public FlowShape<T, T> shape() {
    return FlowShape.of(in, out);
  }

  @Override
  public void execute(Runnable task) {
    execute(task, ReplyBatch.ALONE);
  }

  @Override
  public void execute(Runnable task, ReplyBatch batch) {
    tasks.add(task);
    if (stopped) {
      drain();
    } else if (woken.compareAndSet(false, true)) {
      batch.whenSent(wakeUp);
    }
  }

  private void wake() {
    // Dropped if the stage stops now: then it runs the tasks when it stops.
    Objects.requireNonNull(wake, "no request yet").invoke(this);
  }

  private void drain() {
    // Before the queue is read: a task that comes later wakes the stage again.
    woken.set(false);
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      try {
        task.run();
      } catch (RuntimeException e) {
        LOG.error("task of a connection failed, its call gets no response", e);
      }
    }
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new GraphStageLogic(shape()) {
      {
        setHandlers(
            in,
            out,
            new AbstractInOutHandler() {
              @Override
              public void onPush() {
                push(out, grab(in));
              }

              @Override
              public void onPull() {
                pull(in);
              }
            });
      }

      @Override
      public void preStart() {
        wake = createAsyncCallback(executor -> executor.drain());
      }

      @Override
      public void postStop() {
        stopped = true;
        drain();
      }
    };
  }
}
