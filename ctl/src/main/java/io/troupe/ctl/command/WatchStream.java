package io.troupe.ctl.command;

import io.grpc.Status;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.BidiCall;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.text.Quoted;
import io.troupe.grpc.api.WatchProgressRequest;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.mvcc.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Watches of one command over one call. If the connection breaks, all continue after the last
 * revision that they received. Thread-safe.
 */
final class WatchStream implements AutoCloseable {
  private static final long POLL_MS = 200;
  private static final long RETRY_MS = 500;
  private static final String NO_LEADER = "etcdserver: no leader";
  private static final String COMPACTED = "etcdserver: mvcc: required revision has been compacted";

  private final Session session;
  private final EtcdClient client;
  private final CompletableFuture<Boolean> end = new CompletableFuture<>();

  /** Guarded by this, as the next three. Watches whose creation is not confirmed, in order. */
  private final Deque<State> requested = new ArrayDeque<>();

  private final Map<Long, State> active = new HashMap<>();
  private @Nullable BidiCall<WatchRequest, WatchResponse> call;
  private boolean reading;
  private volatile boolean closed;

  private static final class State {
    private final WatchCommand.Watcher watcher;
    private long nextRevision;

    State(WatchCommand.Watcher watcher) {
      this.watcher = watcher;
      this.nextRevision = watcher.request().getStartRevision();
    }
  }

  WatchStream(Session session) {
    this.session = session;
    this.client = session.client();
  }

  /** Starts a watch. */
  synchronized void add(WatchCommand.Watcher watcher) {
    request(opened(), new State(watcher));
    if (!reading) {
      reading = true;
      Session.THREADS.execute(this::readAll);
    }
  }

  /** Asks for the revision up to which all events have arrived. */
  synchronized void requestProgress() {
    opened()
        .send(
            WatchRequest.newBuilder()
                .setProgressRequest(WatchProgressRequest.getDefaultInstance())
                .build());
  }

  private BidiCall<WatchRequest, WatchResponse> opened() {
    if (call == null) {
      call = client.open(EtcdMethods.WATCH, true);
    }
    return call;
  }

  private void request(BidiCall<WatchRequest, WatchResponse> to, State state) {
    requested.add(state);
    to.send(
        WatchRequest.newBuilder()
            .setCreateRequest(
                state.watcher.request().toBuilder().setStartRevision(state.nextRevision))
            .build());
  }

  /**
   * Waits until the server has cancelled all watches.
   *
   * @throws CtlException if a command failed
   */
  void awaitEnd() {
    try {
      var unused = end.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof CtlException failure) {
        throw failure;
      }
      throw e;
    }
  }

  private void readAll() {
    try {
      while (!closed) {
        try {
          readCall();
          end.complete(true);
          return;
        } catch (RpcException e) {
          if (closed) {
            return;
          }
          boolean passes = e.code() == Status.Code.UNAVAILABLE || e.code() == Status.Code.INTERNAL;
          if (!passes || e.isText(NO_LEADER)) {
            session.console().error("watch was canceled (" + e.getMessage() + ")");
            forgetAll();
            end.complete(true);
            return;
          }
          Thread.sleep(RETRY_MS);
          reopen();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      end.completeExceptionally(e);
    }
  }

  private synchronized void forgetAll() {
    active.clear();
    requested.clear();
    call = null;
    reading = false;
  }

  private synchronized void reopen() {
    List<State> states = new ArrayList<>(active.values());
    states.addAll(requested);
    active.clear();
    requested.clear();
    call = client.open(EtcdMethods.WATCH, true);
    for (State state : states) {
      request(call, state);
    }
  }

  /** Returns when no watch is left. */
  private void readCall() throws InterruptedException {
    BidiCall<WatchRequest, WatchResponse> current;
    synchronized (this) {
      current = opened();
    }
    while (!closed) {
      WatchResponse response = current.next(POLL_MS);
      if (response != null && accept(response)) {
        return;
      }
    }
  }

  /** Returns whether the last watch has ended. */
  private boolean accept(WatchResponse response) {
    State state;
    synchronized (this) {
      if (response.getCreated()) {
        state = requested.poll();
        if (state != null) {
          active.put(response.getWatchId(), state);
          // A watch from now on continues from here if the connection breaks.
          if (state.nextRevision == 0) {
            state.nextRevision = response.getHeader().getRevision() + 1;
          }
        }
        if (!response.getCanceled()) {
          return false;
        }
      }
      state = active.get(response.getWatchId());
    }
    print(response);
    if (state != null) {
      if (response.getEventsCount() > 0) {
        Event last = response.getEvents(response.getEventsCount() - 1);
        state.nextRevision = last.getKv().getModRevision() + 1;
      }
      for (Event event : response.getEventsList()) {
        run(state.watcher.command(), response, event);
      }
    }
    if (response.getCanceled()) {
      synchronized (this) {
        active.remove(response.getWatchId());
        reading = !active.isEmpty() || !requested.isEmpty();
        return !reading;
      }
    }
    return false;
  }

  private void print(WatchResponse response) {
    WatchResponse shown = response;
    if (response.getCanceled()) {
      session.console().error("watch was canceled (" + reason(response) + ")");
      if (response.getCompactRevision() != 0) {
        shown = response.toBuilder().clearCancelReason().build();
      }
    } else if (response.getEventsCount() == 0 && response.getHeader().getRevision() != 0) {
      session.console().line("progress notify: " + response.getHeader().getRevision());
    }
    session.printer().watch(shown.toBuilder().setCreated(false).build());
    session.console().flush();
  }

  private static String reason(WatchResponse response) {
    if (response.getCompactRevision() != 0) {
      return COMPACTED;
    }
    String reason = response.getCancelReason();
    if (reason.isEmpty()) {
      return "etcdserver: mvcc: required revision is a future revision";
    }
    return reason.startsWith("etcdserver: ")
        ? reason
        : "rpc error: code = FailedPrecondition desc = " + reason;
  }

  private void run(List<String> command, WatchResponse response, Event event) {
    if (command.isEmpty()) {
      return;
    }
    Map<String, String> variables =
        Map.of(
            "ETCD_WATCH_REVISION", Long.toString(response.getHeader().getRevision()),
            "ETCD_WATCH_EVENT_TYPE", Quoted.quote(event.getType().name()),
            "ETCD_WATCH_KEY", Quoted.quote(event.getKv().getKey()),
            "ETCD_WATCH_VALUE", Quoted.quote(event.getKv().getValue()));
    String shown = String.join(" ", command.stream().map(Quoted::quote).toList());
    String failure = "";
    try {
      int status = session.console().run(command, variables);
      failure = status == 0 ? "" : "exit status " + status;
    } catch (CtlException e) {
      failure = String.valueOf(e.getMessage());
    }
    if (!failure.isEmpty()) {
      session.console().error("command [" + shown + "] error (" + failure + ")");
      throw CtlException.silent(ExitCode.ERROR);
    }
  }

  @Override
  public void close() {
    closed = true;
    synchronized (this) {
      if (call != null) {
        call.close();
      }
    }
  }
}
