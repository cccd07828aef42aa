package io.troupe.server;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.protocol.WatchReply;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.ExecutionContext;

/**
 * The common part of elections and locks (2.17, 2.18). Each caller that wants a name creates a key
 * under it, attached to a lease. The oldest key owns the name. Each other caller waits until the
 * next older key is deleted. A wait costs a watch and no thread.
 */
final class ElectionQueue {
  private static final Logger LOG = LoggerFactory.getLogger(ElectionQueue.class);

  /** E2, LK2: for callers without their own lease. */
  private static final long LEASE_SECONDS = 60;

  private final Member member;
  private final GatewaySettings settings;
  private final InProcessKvClient kv;
  private final LeaseService leases;
  private final CallerResolver callers;

  ElectionQueue(
      Member member,
      GatewaySettings settings,
      InProcessKvClient kv,
      LeaseService leases,
      CallerResolver callers) {
    this.callers = callers;
    this.member = member;
    this.settings = settings;
    this.kv = kv;
    this.leases = leases;
  }

  Member member() {
    return member;
  }

  GatewaySettings settings() {
    return settings;
  }

  InProcessKvClient kv() {
    return kv;
  }

  /** {@code lease}, or a new one if that is 0. */
  CompletionStage<Long> lease(long lease, Call call) {
    if (lease != 0) {
      return CompletableFuture.completedFuture(lease);
    }
    return InProcessKvClient.translated(
            () -> leases.grant(LeaseGrantRequest.newBuilder().setTTL(LEASE_SECONDS).build(), call))
        .thenApply(LeaseGrantResponse::getID);
  }

  /** The prefix of all keys of a name. */
  static ByteString prefix(ByteString name) {
    return name.concat(ByteString.copyFromUtf8("/"));
  }

  /** The key of a lease (E1, LK1): its ID in hexadecimal, with the sign of a signed number. */
  static ByteString key(ByteString name, long lease) {
    String id = lease < 0 ? "-" + Long.toHexString(-lease) : Long.toHexString(lease);
    return prefix(name).concat(ByteString.copyFromUtf8(id));
  }

  /** The end of the range of all keys of a name: '0' follows '/'. */
  static ByteString prefixEnd(ByteString name) {
    return name.concat(ByteString.copyFromUtf8("0"));
  }

  /** The request for the oldest key of a name. */
  static RangeRequest.Builder oldest(ByteString name) {
    return RangeRequest.newBuilder()
        .setKey(prefix(name))
        .setRangeEnd(prefixEnd(name))
        .setSortTarget(RangeRequest.SortTarget.CREATE)
        .setSortOrder(RangeRequest.SortOrder.ASCEND)
        .setLimit(1);
  }

  /** Opens a watcher on a separate stream; the caller closes it. */
  CompletionStage<WatchSession> watch(WatchCreateRequest.Builder create, Call call) {
    return WatchSession.open(member, settings.requestTimeout(), callers, call)
        .thenCompose(
            session ->
                session
                    .request(WatchRequest.newBuilder().setCreateRequest(create).build())
                    .handle(
                        (done, failure) -> {
                          if (failure != null) {
                            session.close();
                            throw InProcessKvClient.inner(failure);
                          }
                          return session;
                        }));
  }

  /**
   * Removes a key that its caller no longer wants, if it is still the one that was created at that
   * revision. No caller waits for it; if it fails, the expiry of the lease removes the key.
   */
  void remove(ByteString key, long createRevision, Call call) {
    TxnRequest.Builder removal =
        TxnRequest.newBuilder()
            .addCompare(InProcessKvClient.createdAt(key, createRevision))
            .addSuccess(InProcessKvClient.delete(key));
    kv.txn(removal, call)
        .whenComplete(
            (done, failure) -> {
              if (failure != null) {
                LOG.warn(
                    "cannot remove key of a cancelled call, the expiry of its lease removes it"
                        + " key={} reason={}",
                    key.toStringUtf8(),
                    failure.toString());
              }
            });
  }

  /**
   * Completes when no key of {@code name} is older than {@code createRevision}. Fails with an error
   * of E8. If {@code waiting} is cancelled, it stops without completing.
   */
  CompletionStage<Void> turn(
      ByteString name, long createRevision, Call call, CancellableCall<?> waiting) {
    Turn turn = new Turn(name, createRevision, call, waiting);
    turn.check();
    return turn.reached;
  }

  /** The wait of one caller. */
  private final class Turn {
    private final ByteString name;
    private final long createRevision;
    private final Call call;
    private final CancellableCall<?> waiting;
    private final CompletableFuture<Void> reached = new CompletableFuture<>();

    Turn(ByteString name, long createRevision, Call call, CancellableCall<?> waiting) {
      this.name = name;
      this.createRevision = createRevision;
      this.call = call;
      this.waiting = waiting;
    }

    /** Searches the newest older key, which is the one to wait for. */
    void check() {
      if (waiting.isCancelled()) {
        return;
      }
      RangeRequest.Builder older =
          oldest(name)
              .setSortOrder(RangeRequest.SortOrder.DESCEND)
              .setMaxCreateRevision(createRevision - 1)
              .setKeysOnly(true);
      kv.range(older, call)
          .whenComplete(
              (found, failure) -> {
                if (failure != null) {
                  reached.completeExceptionally(failure);
                } else if (found.getKvsCount() == 0) {
                  reached.complete(null);
                } else {
                  await(found.getKvs(0).getKey(), found.getHeader().getRevision());
                }
              });
    }

    /** Checks again when {@code key} is deleted after {@code revision}. */
    private void await(ByteString key, long revision) {
      watch(
              WatchCreateRequest.newBuilder()
                  .setKey(key)
                  .setStartRevision(revision + 1)
                  .addFilters(WatchCreateRequest.FilterType.NOPUT),
              call)
          .whenComplete(
              (session, failure) -> {
                if (failure != null) {
                  checkAfterPause(failure);
                } else {
                  waiting.whenCancelled(session::close);
                  follow(session);
                }
              });
    }

    private void follow(WatchSession session) {
      session
          .next()
          .whenComplete(
              (replies, failure) -> {
                if (failure != null) {
                  session.close();
                  checkAfterPause(failure);
                } else if (refusal(replies) instanceof WatchReply.CreateFailed refused) {
                  session.close();
                  reached.completeExceptionally(
                      new GrpcException(GrpcStatus.UNKNOWN, refused.reason()));
                } else if (isFinished(replies)) {
                  session.close();
                  check();
                } else {
                  follow(session);
                }
              });
    }

    private static @Nullable WatchReply refusal(List<WatchReply> replies) {
      return replies.stream()
          .filter(reply -> reply instanceof WatchReply.CreateFailed)
          .findFirst()
          .orElse(null);
    }

    /** The key is deleted, or a compaction cancelled the watcher: check again in both cases. */
    private static boolean isFinished(List<WatchReply> replies) {
      return replies.stream()
          .anyMatch(
              reply ->
                  reply instanceof WatchReply.Events
                      || reply instanceof WatchReply.LargeRevision
                      || reply instanceof WatchReply.Canceled);
    }

    /**
     * A stream closes when the actors restart from a newer snapshot; the state is then newer, too.
     */
    private void checkAfterPause(Throwable why) {
      LOG.debug("restarting the wait for an older key reason={}", why.toString());
      Duration pause = settings.tick();
      member.scheduler().scheduleOnce(pause, this::check, ExecutionContext.parasitic$.MODULE$);
    }
  }
}
