package io.troupe.server;

import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.StateReader.KvHash;
import io.troupe.server.CorruptionRules.Accusation;
import io.troupe.server.CorruptionRules.MemberHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Compares the content of all members by hashes (Q5). The regular digests of members
 * (docs/decisions/0060) detect entries with different effects. These checks also detect data that
 * was damaged on disk, at the cost of reading all content. Thread-safe.
 */
final class CorruptionCheck {
  private static final Logger LOG = LoggerFactory.getLogger(CorruptionCheck.class);

  /** The reply of a member whose state is not open. */
  private static final PeerReply STARTING = new PeerReply.Refused(Refusal.NO_LEADER);

  /** Time limit for hashing a long history. */
  static final Duration HASH_TIMEOUT = Duration.ofMinutes(1);

  private static final CompletionStage<Void> DONE = CompletableFuture.completedFuture(null);

  private final Member member;
  private final ReadIndexBatcher reads;
  private final Proposer proposer;
  private final PeerQueries peers;
  private final AtomicBoolean running = new AtomicBoolean();
  private volatile long checkedRevision;

  CorruptionCheck(Member member, ReadIndexBatcher reads, Proposer proposer, PeerQueries peers) {
    this.member = member;
    this.reads = reads;
    this.proposer = proposer;
    this.peers = peers;
  }

  private NodeId self() {
    return member.status().memberId();
  }

  private boolean leads() {
    return member.status().leader().equals(self());
  }

  /** Runs one check at a time; a failed run is logged, and the next one checks again. */
  private CompletionStage<Void> run(String what, CheckRun check) {
    if (!leads() || !running.compareAndSet(false, true)) {
      return CompletableFuture.completedFuture(null);
    }
    CompletionStage<Void> end;
    try {
      end = check.run();
    } catch (RuntimeException failure) {
      end = CompletableFuture.failedFuture(failure);
    }
    return end.handle(
        (done, failure) -> {
          running.set(false);
          if (failure != null) {
            LOG.warn("{} failed reason={}", what, failure.toString());
          }
          return null;
        });
  }

  /** A running check. */
  private interface CheckRun {
    CompletionStage<Void> run();
  }

  /** The leader compares the current content of all members (corrupt-check-time). */
  CompletionStage<Void> periodic() {
    return run(
        "corruption check",
        () ->
            current()
                .thenCompose(
                    before ->
                        ask(computed(before.hashRevision()), HASH_TIMEOUT)
                            .thenCompose(
                                hashes ->
                                    reads
                                        .linearizable(
                                            ReadIndexBatcher.Kind.HASH,
                                            () -> member.state().hashKv(0))
                                        .thenCompose(after -> judge(before, after, hashes)))));
  }

  private CompletionStage<Void> judge(KvHash before, KvHash after, List<MemberHash> hashes) {
    Accusation accused = CorruptionRules.periodic(self(), before, after, hashes).orElse(null);
    LOG.info(
        "finished peer corruption check number-of-peers-checked={} revision={}",
        hashes.size(),
        before.hashRevision());
    if (accused == null) {
      return DONE;
    }
    LOG.error(
        "{} accused={} leader-hash={} leader-hash-afterwards={} peer-hashes={}",
        accused.why(),
        accused.member(),
        before,
        after,
        hashes);
    return raise(List.of(accused.member()));
  }

  /**
   * The leader compares the hashes of compactions (compact-hash-check-time), the newest first,
   * until one was compared with all other members or differs. A hash that all members have is not
   * checked again. A hash that differs is checked again, so that an alarm that could not be raised,
   * or was disarmed too early, is raised again.
   */
  CompletionStage<Void> compactions() {
    return run(
        "check of compaction hashes",
        () -> {
          List<KvHash> unchecked =
              member.state().compactionHashes().stream()
                  .filter(hash -> hash.hashRevision() > checkedRevision)
                  .toList();
          return others().isEmpty() ? DONE : compaction(unchecked, 0);
        });
  }

  private CompletionStage<Void> compaction(List<KvHash> unchecked, int at) {
    if (at == unchecked.size()) {
      LOG.info("finished compaction hash check number-of-hashes-checked={}", at);
      return DONE;
    }
    KvHash own = unchecked.get(at);
    int others = others().size();
    return ask(new PeerQuery.HashQuery(own.hashRevision(), false), HASH_TIMEOUT)
        .thenCompose(
            hashes -> {
              List<NodeId> accused = CorruptionRules.ofCompaction(self(), own, others + 1, hashes);
              int compared = CorruptionRules.comparable(own, hashes).size();
              if (accused.isEmpty() && compared < others) {
                LOG.warn(
                    "skipped revision in compaction hash check; was not able to check all peers"
                        + " revision={} compact-revision={} number-of-peers-checked={}"
                        + " number-of-peers={}",
                    own.hashRevision(),
                    own.compactRevision(),
                    compared,
                    others);
                return compaction(unchecked, at + 1);
              }
              if (accused.isEmpty()) {
                checkedRevision = own.hashRevision();
                LOG.info(
                    "successfully checked hash on whole cluster number-of-peers-checked={}"
                        + " revision={} compact-revision={}",
                    others,
                    own.hashRevision(),
                    own.compactRevision());
              }
              LOG.info("finished compaction hash check number-of-hashes-checked={}", at + 1);
              return accused.isEmpty() ? DONE : mismatch(accused, own, hashes);
            });
  }

  private CompletionStage<Void> mismatch(
      List<NodeId> accused, KvHash own, List<MemberHash> hashes) {
    LOG.error(
        accused.equals(List.of(NodeId.NONE))
            ? "Detected compaction hash mismatch but cannot identify the corrupted members, so"
                + " intentionally set the memberID as 0 accused={} leader-hash={} peer-hashes={}"
            : "Detected compaction hash mismatch accused={} leader-hash={} peer-hashes={}",
        accused,
        own,
        hashes);
    return raise(accused);
  }

  private CompletionStage<Void> raise(List<NodeId> accused) {
    List<CompletableFuture<?>> raised = new ArrayList<>();
    for (NodeId one : accused) {
      if (!member.state().alarms().contains(new AlarmMember(one, AlarmType.CORRUPT))) {
        raised.add(
            proposer
                .propose(new Operation.AlarmActivate(one, AlarmType.CORRUPT))
                .toCompletableFuture());
      }
    }
    return CompletableFuture.allOf(raised.toArray(CompletableFuture<?>[]::new));
  }

  /**
   * Before a member serves: the members with other content at its revision, under the same
   * compaction. Members that do not reply, or do not have that revision, are ignored.
   *
   * @param timeout time limit for the replies
   */
  CompletionStage<List<NodeId>> initial(Duration timeout) {
    if (others().isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    LOG.info("starting initial corruption check local-member-id={} timeout={}", self(), timeout);
    return current()
        .thenCompose(
            own ->
                ask(computed(own.hashRevision()), timeout)
                    .thenApply(
                        hashes -> {
                          List<NodeId> differing =
                              hashes.stream()
                                  .filter(peer -> differs(own, peer))
                                  .map(MemberHash::member)
                                  .toList();
                          if (differing.isEmpty()) {
                            LOG.info(
                                "initial corruption checking passed; no corruption"
                                    + " local-member-id={} revision={} number-of-peers-checked={}",
                                self(),
                                own.hashRevision(),
                                CorruptionRules.comparable(own, hashes).size());
                          }
                          return differing;
                        }));
  }

  /** Hashes under different compactions cannot be compared. */
  private boolean differs(KvHash own, MemberHash peer) {
    if (peer.hash().hash() == own.hash()) {
      return false;
    }
    boolean comparable = peer.hash().compactRevision() == own.compactRevision();
    LOG.warn(
        comparable
            ? "found different hash values from remote peer local-member-id={} remote-peer-id={}"
                + " local-member={} remote-peer={}"
            : "found different compact revision values from remote peer local-member-id={}"
                + " remote-peer-id={} local-member={} remote-peer={}",
        self(),
        peer.member(),
        own,
        peer.hash());
    return comparable;
  }

  /** This member's hash of the current revision. */
  private CompletionStage<KvHash> current() {
    return reads.serializable(ReadIndexBatcher.Kind.HASH, () -> member.state().hashKv(0));
  }

  /**
   * The query for a hash to compare with {@link #current}: remembered hashes belong to another
   * compaction.
   */
  private static PeerQuery.HashQuery computed(long revision) {
    return new PeerQuery.HashQuery(revision, true);
  }

  private List<NodeId> others() {
    return member.state().cluster().membership().members().stream()
        .filter(id -> !id.equals(self()))
        .toList();
  }

  /** The hashes of the other members that replied, in the order of their IDs. */
  private CompletionStage<List<MemberHash>> ask(PeerQuery.HashQuery query, Duration timeout) {
    List<CompletableFuture<@Nullable MemberHash>> asked =
        others().stream().map(other -> ask(other, query, timeout).toCompletableFuture()).toList();
    return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
        .thenApply(
            done -> {
              List<MemberHash> hashes = new ArrayList<>();
              asked.stream()
                  .map(CompletableFuture::join)
                  .filter(Objects::nonNull)
                  .forEach(hashes::add);
              return hashes;
            });
  }

  private CompletionStage<@Nullable MemberHash> ask(
      NodeId other, PeerQuery.HashQuery query, Duration timeout) {
    List<String> urls = member.state().cluster().peerUrls().getOrDefault(other, List.of());
    if (urls.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    return peers
        .ask(urls.get(0), query, timeout)
        .handle(
            (reply, failure) -> {
              if (reply instanceof PeerReply.Hashed hashed) {
                return new MemberHash(other, hashed.hash());
              }
              // A member that has just started has no content to hash yet; this is not a fault.
              LOG.atLevel(STARTING.equals(reply) ? Level.DEBUG : Level.WARN)
                  .log(
                      "failed hash kv request peer-id={} requested-revision={} reason={}",
                      other,
                      query.revision(),
                      failure == null ? reply : failure.toString());
              return null;
            });
  }
}
