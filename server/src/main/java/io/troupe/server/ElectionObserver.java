package io.troupe.server;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.election.LeaderResponse;
import io.troupe.grpc.api.mvcc.KeyValue;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.model.Event;
import io.troupe.model.SharedEvent;
import io.troupe.protocol.EventPieces;
import io.troupe.protocol.WatchReply;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client that observes an election (E6): the leader's key, each new value of it, and after its
 * deletion the next leader's. It reads the next response when the previous one is in flight, so a
 * slow client blocks no other client; it then misses values. Calls of {@link #next} must not
 * overlap.
 */
public final class ElectionObserver {
  private static final Logger LOG = LoggerFactory.getLogger(ElectionObserver.class);

  private final ElectionQueue candidates;
  private final ByteString name;
  private final Call call;
  private final Deque<LeaderResponse> found = new ArrayDeque<>();
  private @Nullable WatchSession session;
  private boolean waitsForFirst;
  private boolean leaderGone;
  private boolean closed;

  ElectionObserver(ElectionQueue candidates, ByteString name, Call call) {
    this.candidates = candidates;
    this.name = name;
    this.call = call;
  }

  /** The next leader, or the next value of the current one; empty when the watch failed. */
  public synchronized CompletionStage<Optional<LeaderResponse>> next() {
    if (closed) {
      // Otherwise a step that was in progress when the client disconnected would restart forever.
      return CompletableFuture.completedFuture(Optional.empty());
    }
    LeaderResponse ready = found.poll();
    if (ready != null) {
      return CompletableFuture.completedFuture(Optional.of(ready));
    }
    WatchSession running = session;
    if (running == null || leaderGone) {
      closeSession();
      return readLeader();
    }
    return running
        .next()
        .handle(
            (replies, failure) -> {
              if (failure != null) {
                LOG.debug("watch of an election closed reason={}", failure.toString());
                return CompletableFuture.completedFuture(Optional.<LeaderResponse>empty());
              }
              return take(replies);
            })
        .thenCompose(response -> response);
  }

  private CompletionStage<Optional<LeaderResponse>> readLeader() {
    return candidates
        .kv()
        .range(ElectionQueue.oldest(name), call)
        .thenCompose(
            oldest -> {
              long revision = oldest.getHeader().getRevision();
              if (oldest.getKvsCount() == 0) {
                return watchForFirst(revision + 1);
              }
              KeyValue leader = oldest.getKvs(0);
              return watchLeader(leader.getKey(), revision + 1)
                  .thenApply(
                      opened ->
                          Optional.of(
                              LeaderResponse.newBuilder()
                                  .setHeader(oldest.getHeader())
                                  .setKv(leader)
                                  .build()));
            });
  }

  private CompletionStage<Optional<LeaderResponse>> watchForFirst(long fromRevision) {
    WatchCreateRequest.Builder prefix =
        WatchCreateRequest.newBuilder()
            .setKey(ElectionQueue.prefix(name))
            .setRangeEnd(ElectionQueue.prefixEnd(name))
            .addFilters(WatchCreateRequest.FilterType.NODELETE)
            .setStartRevision(fromRevision);
    return candidates
        .watch(prefix, call)
        .thenCompose(
            opened -> {
              use(opened, true);
              return next();
            });
  }

  private CompletionStage<WatchSession> watchLeader(ByteString key, long fromRevision) {
    return candidates
        .watch(WatchCreateRequest.newBuilder().setKey(key).setStartRevision(fromRevision), call)
        .thenApply(
            opened -> {
              use(opened, false);
              return opened;
            });
  }

  /** Sets the session; closes it immediately if the client has disconnected. */
  private synchronized void use(WatchSession opened, boolean forFirst) {
    session = opened;
    waitsForFirst = forFirst;
    leaderGone = false;
    if (closed) {
      closeSession();
    }
  }

  private synchronized CompletionStage<Optional<LeaderResponse>> take(List<WatchReply> replies) {
    for (WatchReply reply : replies) {
      if (reply instanceof WatchReply.Canceled || reply instanceof WatchReply.CreateFailed) {
        return CompletableFuture.completedFuture(Optional.empty());
      }
      if (reply instanceof WatchReply.LargeRevision large) {
        return first(large, 0);
      }
      if (reply instanceof WatchReply.Events events) {
        for (SharedEvent shared : events.events()) {
          Event event = shared.event();
          if (waitsForFirst) {
            return first(ApiConverter.keyValue(event.kv()));
          }
          if (event.type() == Event.Type.DELETE) {
            leaderGone = true;
            return next();
          }
          found.add(response(events.revision(), ApiConverter.keyValue(event.kv())));
        }
      }
    }
    return next();
  }

  /** Only the watch of all candidates, which waits for the first, can have a large revision. */
  private synchronized CompletionStage<Optional<LeaderResponse>> first(
      WatchReply.LargeRevision large, int at) {
    return large
        .pieces()
        .read(at)
        .thenCompose(
            piece -> {
              if (!piece.events().isEmpty()) {
                return first(ApiConverter.keyValue(piece.events().get(0).kv()));
              }
              return piece.next() == EventPieces.END ? next() : first(large, piece.next());
            });
  }

  /**
   * The response has the revision of the first key, because the same message may contain later
   * changes.
   */
  private synchronized CompletionStage<Optional<LeaderResponse>> first(KeyValue leader) {
    closeSession();
    LeaderResponse response = response(leader.getModRevision(), leader);
    return watchLeader(leader.getKey(), leader.getModRevision() + 1)
        .thenApply(opened -> Optional.of(response));
  }

  private LeaderResponse response(long revision, KeyValue leader) {
    ResponseHeader header = candidates.member().header(revision);
    return LeaderResponse.newBuilder().setHeader(header).setKv(leader).build();
  }

  private void closeSession() {
    WatchSession running = session;
    session = null;
    if (running != null) {
      running.close();
    }
  }

  /** The client has disconnected. */
  public synchronized void close() {
    closed = true;
    closeSession();
  }
}
