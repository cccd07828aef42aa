package io.troupe.server;

import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.protocol.ReplyTo;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchReply;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.EventFilter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * One watch stream of a client (2.9). The next request is accepted only when {@link #request} has
 * completed; the next replies are fetched only when the previous ones were sent. A client that
 * floods or does not read therefore delays only itself.
 */
public final class WatchSession {
  private static final Bytes FIRST_KEY = Bytes.of(0);

  private final Member member;
  private final Duration timeout;
  private final CallerResolver callers;
  private final Call call;
  private final ActorRef<WatchStreamCommand> stream;

  private WatchSession(
      Member member,
      Duration timeout,
      CallerResolver callers,
      Call call,
      ActorRef<WatchStreamCommand> stream) {
    this.callers = callers;
    this.call = call;
    this.member = member;
    this.timeout = timeout;
    this.stream = stream;
  }

  /** Opens a stream. */
  static CompletionStage<WatchSession> open(
      Member member, Duration timeout, CallerResolver callers, Call call) {
    CompletionStage<ActorRef<WatchStreamCommand>> stream =
        member
            .replies()
            .ask(
                member.watch(),
                replyTo -> new WatchCommand.OpenStream(call.memory(), replyTo),
                timeout);
    return stream.thenApply(ref -> new WatchSession(member, timeout, callers, call, ref));
  }

  /** Processes one request; completes when it is accepted. An empty request is ignored (W19). */
  public CompletionStage<Done> request(WatchRequest request) {
    return switch (request.getRequestUnionCase()) {
      case CREATE_REQUEST -> create(request.getCreateRequest());
      case CANCEL_REQUEST ->
          ask(
              replyTo ->
                  new WatchStreamCommand.Cancel(request.getCancelRequest().getWatchId(), replyTo));
      case PROGRESS_REQUEST -> ask(WatchStreamCommand.RequestProgress::new);
      case REQUESTUNION_NOT_SET -> CompletableFuture.completedFuture(Done.getInstance());
    };
  }

  private CompletionStage<Done> create(WatchCreateRequest create) {
    Bytes key = Bytes.wrap(create.getKey().toByteArray());
    KeyRange range =
        new KeyRange(
            key.isEmpty() ? FIRST_KEY : key, Bytes.wrap(create.getRangeEnd().toByteArray()));
    boolean noPut = create.getFiltersValueList().contains(0);
    boolean noDelete = create.getFiltersValueList().contains(1);
    return callers
        .watch(call)
        .thenCompose(
            right ->
                ask(
                    replyTo ->
                        new WatchStreamCommand.Create(
                            range,
                            create.getWatchId(),
                            create.getStartRevision(),
                            new EventFilter(noPut, noDelete),
                            create.getPrevKv(),
                            create.getProgressNotify(),
                            create.getFragment(),
                            right,
                            replyTo)));
  }

  private CompletionStage<Done> ask(Function<ReplyTo<Done>, WatchStreamCommand> message) {
    return member.replies().ask(stream, message, timeout);
  }

  /** The next replies, at least one, in order. Completes only when there is one. */
  public CompletionStage<List<WatchReply>> next() {
    CompletableFuture<List<WatchReply>> replies = new CompletableFuture<>();
    stream.tell(new WatchStreamCommand.Next(replies));
    return replies;
  }

  /** The client has disconnected. */
  public void close() {
    stream.tell(WatchStreamCommand.Close.INSTANCE);
  }
}
