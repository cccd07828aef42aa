package io.troupe.actors.peers;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.PeerResponder;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.QueryFrame.Query;
import io.troupe.protocol.QueryFrame.Reply;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.QueryCodec;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends queries to other members and passes their queries to the responder. The connection loses
 * messages, so a query is repeated until its reply arrives or its timeout expires. The receiver
 * handles it once and sends the same reply to each copy. The actor runs before the member knows its
 * identity: until then it only queries for members, and replies NO_LEADER to all queries.
 */
final class PeerQueryActor extends AbstractBehavior<QueryFrame> {
  private static final Logger LOG = LoggerFactory.getLogger(PeerQueryActor.class);

  /**
   * Interval of the checks of all queries in progress. One timer for all: a timer for each would
   * cost more than the query.
   */
  private static final Duration CHECK_EVERY = Duration.ofMillis(50);

  /** Checks between two copies of a query. */
  private static final long AGAIN_CHECKS = 6;

  /** No reply is sent later than this, even if the caller waits longer. */
  private static final Duration LONGEST = Duration.ofSeconds(60);

  /** Maximum number of queries of this member in progress. */
  static final int MAX_ASKED = 256;

  /**
   * Maximum number of queries of other members in progress, and of promotions whose reply may be
   * lost.
   */
  static final int MAX_INCOMING = 256;

  private static final int MAX_LOGGED = 100;

  private static final PeerReply NOTHING_YET = new PeerReply.Refused(Refusal.NO_LEADER);
  private static final PeerReply TOO_LONG = new PeerReply.Refused(Refusal.ANSWER_TOO_LARGE);
  private static final PeerReply TOO_MANY = new PeerReply.Refused(Refusal.TOO_MANY_REQUESTS);

  /** Queries the peer at {@code url}. The result completes on this actor's thread. */
  record Ask(String url, PeerQuery query, Duration timeout, CompletableFuture<PeerReply> answer)
      implements QueryFrame.Private {}

  /** The identity of this member is known now. */
  record Identified(PeerIdentity self) implements QueryFrame.Private {}

  /** From now on {@code responder} handles queries. */
  record Serve(PeerResponder responder) implements QueryFrame.Private {}

  /**
   * Another member sent a query or a reply.
   *
   * @param frame a {@link Query} or a {@link Reply}
   * @param handled runs when the actor handles it
   */
  record Received(QueryFrame frame, Runnable handled) implements QueryFrame.Private {}

  private record Check() implements QueryFrame.Private {}

  private record Evaluated(Key key, boolean keep, PeerReply answer) implements QueryFrame.Private {}

  private record Complaint(long clusterId, String url, String reason) {}

  /**
   * A query in progress.
   *
   * @param first check at which its first interval has passed
   * @param last check at which it has timed out
   */
  private record Asked(
      String url, Query frame, CompletableFuture<PeerReply> answer, long first, long last) {
    boolean isRepeatedAt(long check) {
      return check >= first && (check - first) % AGAIN_CHECKS == 0;
    }
  }

  /** Key of another member's query; equal for all its copies. */
  private record Key(String replyUrl, long number) {}

  /** The reply, null until it is known. */
  private record Incoming(long endNanos, @Nullable PeerReply answer) {}

  private final TimerScheduler<QueryFrame> timers;
  private final PeerDirectory directory;
  private final String url;
  private final BiConsumer<String, QueryFrame> way;
  private final Map<Long, Asked> asked = new LinkedHashMap<>();
  private final Map<Key, Incoming> incoming = new LinkedHashMap<>();
  private final Set<Complaint> logged = new HashSet<>();
  private long number = new SecureRandom().nextLong();

  /** Number of checks so far. The timer runs while queries are in progress. */
  private long checks;

  private boolean checking;
  private @Nullable PeerIdentity self;
  private @Nullable PeerResponder responder;

  private PeerQueryActor(
      ActorContext<QueryFrame> context,
      TimerScheduler<QueryFrame> timers,
      PeerDirectory directory,
      String url,
      BiConsumer<String, QueryFrame> way) {
    super(context);
    this.timers = timers;
    this.directory = directory;
    this.url = url;
    this.way = way;
  }

  /**
   * The behavior of the actor.
   *
   * @param url peer URL of this member, where it receives replies
   * @param way sends a frame to the query actor at a peer URL, or drops it; never blocks
   */
  static Behavior<QueryFrame> create(
      PeerDirectory directory, String url, BiConsumer<String, QueryFrame> way) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new PeerQueryActor(context, timers, directory, url, way)));
  }

  @Override
  public Receive<QueryFrame> createReceive() {
    return newReceiveBuilder()
        .onMessage(Ask.class, this::onAsk)
        .onMessage(Check.class, this::onCheck)
        .onMessage(Evaluated.class, this::onEvaluated)
        .onMessage(Identified.class, this::onIdentified)
        .onMessage(Serve.class, this::onServe)
        .onMessage(Received.class, this::onReceived)
        .build();
  }

  private long clusterId() {
    return self == null ? QueryFrame.NO_CLUSTER : self.clusterId();
  }

  private Behavior<QueryFrame> onIdentified(Identified identified) {
    self = identified.self();
    return this;
  }

  private Behavior<QueryFrame> onServe(Serve serve) {
    responder = serve.responder();
    return this;
  }

  private Behavior<QueryFrame> onReceived(Received received) {
    received.handled().run();
    return received.frame() instanceof Query frame
        ? onQuery(frame)
        : onReply((Reply) received.frame());
  }

  private Behavior<QueryFrame> onAsk(Ask ask) {
    if (asked.size() >= MAX_ASKED) {
      ask.answer().completeExceptionally(new RefusedException(Refusal.TOO_MANY_REQUESTS));
      return this;
    }
    number++;
    NodeId from = self == null ? NodeId.NONE : self.memberId();
    Query frame = new Query(clusterId(), from, number, url, ask.timeout(), ask.query());
    // A part of the current interval has passed.
    long begin = checking ? checks + 1 : checks;
    if (!checking) {
      checking = true;
      timers.startTimerWithFixedDelay(new Check(), CHECK_EVERY);
    }
    long intervals = -Math.floorDiv(-ask.timeout().toNanos(), CHECK_EVERY.toNanos());
    asked.put(
        number, new Asked(ask.url(), frame, ask.answer(), begin + AGAIN_CHECKS, begin + intervals));
    way.accept(ask.url(), frame);
    return this;
  }

  private Behavior<QueryFrame> onCheck(Check check) {
    checks++;
    if (asked.isEmpty()) {
      checking = false;
      timers.cancel(check);
      return this;
    }
    List<Asked> overdue = new ArrayList<>(0);
    for (Iterator<Asked> all = asked.values().iterator(); all.hasNext(); ) {
      Asked one = all.next();
      if (checks >= one.last()) {
        all.remove();
        overdue.add(one);
      } else if (one.isRepeatedAt(checks)) {
        way.accept(one.url(), one.frame());
      }
    }
    overdue.forEach(PeerQueryActor::timeOut);
    return this;
  }

  private static void timeOut(Asked overdue) {
    overdue
        .answer()
        .completeExceptionally(
            new TimeoutException(
                "no reply from "
                    + overdue.url()
                    + " in "
                    + overdue.frame().timeout().toMillis()
                    + " ms"));
  }

  private Behavior<QueryFrame> onReply(Reply reply) {
    Asked open = asked.get(reply.number());
    if (open == null) {
      return this; // A late or repeated reply.
    }
    if (self != null
        && reply.clusterId() != QueryFrame.NO_CLUSTER
        && reply.clusterId() != self.clusterId()) {
      complain(reply.clusterId(), open.url(), "reply refused, it is of another cluster");
      return this;
    }
    asked.remove(reply.number());
    open.answer().complete(reply.answer());
    return this;
  }

  private Behavior<QueryFrame> onQuery(Query frame) {
    if (!admits(frame)) {
      return this;
    }
    Key key = new Key(frame.replyUrl(), frame.number());
    Incoming known = incoming.get(key);
    if (known != null) {
      if (known.answer() != null) {
        sendReply(key, known.answer());
      }
      return this;
    }
    PeerResponder ready = responder;
    if (ready == null) {
      sendReply(key, NOTHING_YET);
      return this;
    }
    long now = System.nanoTime();
    incoming.values().removeIf(one -> one.endNanos() - now <= 0);
    if (incoming.size() >= MAX_INCOMING) {
      sendReply(key, TOO_MANY);
      return this;
    }
    Duration time = frame.timeout().compareTo(LONGEST) < 0 ? frame.timeout() : LONGEST;
    incoming.put(key, new Incoming(now + time.toNanos(), null));
    getContext()
        .pipeToSelf(
            answer(ready, frame),
            (answer, failure) ->
                new Evaluated(
                    key,
                    // What changes something must not be done once more for a copy.
                    frame.query() instanceof PeerQuery.PromoteQuery,
                    answer != null ? answer : refusal(failure)));
    return this;
  }

  private boolean admits(Query frame) {
    long mine = clusterId();
    if (frame.clusterId() == QueryFrame.NO_CLUSTER) {
      return frame.query() instanceof PeerQuery.MembersQuery
          || frame.query() instanceof PeerQuery.JoinQuery
          || complain(frame, "query refused, it is of no cluster");
    }
    if (mine == QueryFrame.NO_CLUSTER || frame.clusterId() == mine) {
      return !directory.isRemoved(frame.from())
          || complain(frame, "query refused, it is of a removed member");
    }
    return complain(frame, "query refused, it is of another cluster");
  }

  private boolean complain(Query frame, String text) {
    return complain(frame.clusterId(), frame.replyUrl(), text);
  }

  private boolean complain(long clusterId, String peer, String text) {
    if (logged.size() < MAX_LOGGED && logged.add(new Complaint(clusterId, peer, text))) {
      LOG.warn("{} peer-url={} cluster-id={}", text, peer, Long.toHexString(clusterId));
    }
    return false;
  }

  private static CompletionStage<PeerReply> answer(PeerResponder responder, Query frame) {
    try {
      return responder.answer(frame.from(), frame.query());
    } catch (RuntimeException failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }

  /** While the actors are closed even a check of the state is refused. */
  private static PeerReply refusal(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof RefusedException refused) {
      return new PeerReply.Refused(refused.reason());
    }
    if (!(cause instanceof TimeoutException)) {
      LOG.warn("failed to handle query of another member", cause);
    }
    return new PeerReply.Refused(Refusal.TIMED_OUT);
  }

  private Behavior<QueryFrame> onEvaluated(Evaluated evaluated) {
    Incoming open = incoming.remove(evaluated.key());
    if (open != null) {
      if (evaluated.keep()) {
        incoming.put(evaluated.key(), new Incoming(open.endNanos(), evaluated.answer()));
      }
      sendReply(evaluated.key(), evaluated.answer());
    }
    return this;
  }

  private void sendReply(Key key, PeerReply answer) {
    PeerReply fits =
        QueryCodec.sizeAtMost(answer) <= PeerLimits.MAX_REPLY_BYTES ? answer : TOO_LONG;
    way.accept(key.replyUrl(), new Reply(clusterId(), key.number(), fits));
  }
}
