package io.troupe.grpc.service;

import io.troupe.grpc.service.CorruptionRules.Accusation;
import io.troupe.grpc.service.CorruptionRules.Answer;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.protocol.PeerAnswer;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.StateReader.KvHash;
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
 * Compares the content of all members by hashes (Q5). The digest that members tell each other
 * anyway (docs/decisions/0060) finds entries that did something else; these checks find also what
 * was damaged at rest, at the price of reading everything. Thread-safe.
 */
final class CorruptionCheck {
  private static final Logger LOG = LoggerFactory.getLogger(CorruptionCheck.class);

  /** The answer of a member whose state is not open. */
  private static final PeerAnswer STARTING = new PeerAnswer.Refused(Refusal.NO_LEADER);

  /** A hash of a long history takes its time. */
  static final Duration PATIENCE = Duration.ofMinutes(1);

  private static final CompletionStage<Void> DONE = CompletableFuture.completedFuture(null);

  private final Member member;
  private final ReadIndexBatcher gate;
  private final Proposer proposer;
  private final PeerQueries peers;
  private final AtomicBoolean running = new AtomicBoolean();
  private volatile long checkedRevision;

  CorruptionCheck(Member member, ReadIndexBatcher gate, Proposer proposer, PeerQueries peers) {
    this.member = member;
    this.gate = gate;
    this.proposer = proposer;
    this.peers = peers;
  }

  private NodeId self() {
    return member.status().memberId();
  }

  private boolean leads() {
    return member.status().leader().equals(self());
  }

  /** One at a time; a run that fails is logged, and the next one is another chance. */
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
            LOG.warn("{} could not be finished reason={}", what, failure.toString());
          }
          return null;
        });
  }

  /** A check in progress. */
  private interface CheckRun {
    CompletionStage<Void> run();
  }

  /** The leader compares everybody's current content (corrupt-check-time). */
  CompletionStage<Void> periodic() {
    return run(
        "corruption check",
        () ->
            current()
                .thenCompose(
                    before ->
                        ask(computed(before.hashRevision()), PATIENCE)
                            .thenCompose(
                                answers ->
                                    gate.linearizable(
                                            ReadIndexBatcher.Kind.HASH, () -> member.state().hashKv(0))
                                        .thenCompose(after -> judge(before, after, answers)))));
  }

  private CompletionStage<Void> judge(KvHash before, KvHash after, List<Answer> answers) {
    Accusation accused = CorruptionRules.periodic(self(), before, after, answers).orElse(null);
    LOG.info(
        "finished peer corruption check number-of-peers-checked={} revision={}",
        answers.size(),
        before.hashRevision());
    if (accused == null) {
      return DONE;
    }
    LOG.error(
        "{} accused={} leader-hash={} leader-hash-afterwards={} answers={}",
        accused.why(),
        accused.member(),
        before,
        after,
        answers);
    return raise(List.of(accused.member()));
  }

  /**
   * The leader compares the hashes that compactions left (compact-hash-check-time), the newest
   * first, until one was compared with all others or differs. One that all have is not checked
   * again; one that differs is, so that an alarm that could not be raised or was ended too early
   * comes back.
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
    return ask(new PeerQuery.HashQuery(own.hashRevision(), false), PATIENCE)
        .thenCompose(
            answers -> {
              List<NodeId> accused = CorruptionRules.ofCompaction(self(), own, others + 1, answers);
              int compared = CorruptionRules.comparable(own, answers).size();
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
              return accused.isEmpty() ? DONE : mismatch(accused, own, answers);
            });
  }

  private CompletionStage<Void> mismatch(List<NodeId> accused, KvHash own, List<Answer> answers) {
    LOG.error(
        accused.equals(List.of(NodeId.NONE))
            ? "Detected compaction hash mismatch but cannot identify the corrupted members, so"
                + " intentionally set the memberID as 0 accused={} leader-hash={} answers={}"
            : "Detected compaction hash mismatch accused={} leader-hash={} answers={}",
        accused,
        own,
        answers);
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
   * Before a member serves: who has other content at its revision, under the same compaction.
   * Members that do not answer, or do not have that revision, say nothing.
   *
   * @param patience for those that do not answer
   */
  CompletionStage<List<NodeId>> initial(Duration patience) {
    if (others().isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    LOG.info("starting initial corruption check local-member-id={} timeout={}", self(), patience);
    return current()
        .thenCompose(
            own ->
                ask(computed(own.hashRevision()), patience)
                    .thenApply(
                        answers -> {
                          List<NodeId> differing =
                              answers.stream()
                                  .filter(answer -> differs(own, answer))
                                  .map(Answer::member)
                                  .toList();
                          if (differing.isEmpty()) {
                            LOG.info(
                                "initial corruption checking passed; no corruption"
                                    + " local-member-id={} revision={} number-of-peers-checked={}",
                                self(),
                                own.hashRevision(),
                                CorruptionRules.comparable(own, answers).size());
                          }
                          return differing;
                        }));
  }

  /** Hashes under different compactions say nothing about the content. */
  private boolean differs(KvHash own, Answer answer) {
    if (answer.hash().hash() == own.hash()) {
      return false;
    }
    boolean comparable = answer.hash().compactRevision() == own.compactRevision();
    LOG.warn(
        comparable
            ? "found different hash values from remote peer local-member-id={} remote-peer-id={}"
                + " local-member={} remote-peer={}"
            : "found different compact revision values from remote peer local-member-id={}"
                + " remote-peer-id={} local-member={} remote-peer={}",
        self(),
        answer.member(),
        own,
        answer.hash());
    return comparable;
  }

  /** The own hash of the current revision. */
  private CompletionStage<KvHash> current() {
    return gate.serializable(ReadIndexBatcher.Kind.HASH, () -> member.state().hashKv(0));
  }

  /** What is asked of others to compare with that: what they remember is of another compaction. */
  private static PeerQuery.HashQuery computed(long revision) {
    return new PeerQuery.HashQuery(revision, true);
  }

  private List<NodeId> others() {
    return member.state().cluster().membership().members().stream()
        .filter(id -> !id.equals(self()))
        .toList();
  }

  /** What the others say who say something, in the order of their ids. */
  private CompletionStage<List<Answer>> ask(PeerQuery.HashQuery query, Duration patience) {
    List<CompletableFuture<@Nullable Answer>> asked =
        others().stream().map(other -> ask(other, query, patience).toCompletableFuture()).toList();
    return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
        .thenApply(
            done -> {
              List<Answer> answers = new ArrayList<>();
              asked.stream()
                  .map(CompletableFuture::join)
                  .filter(Objects::nonNull)
                  .forEach(answers::add);
              return answers;
            });
  }

  private CompletionStage<@Nullable Answer> ask(
      NodeId other, PeerQuery.HashQuery query, Duration patience) {
    List<String> urls = member.state().cluster().peerUrls().getOrDefault(other, List.of());
    if (urls.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    return peers
        .ask(urls.get(0), query, patience)
        .handle(
            (answer, failure) -> {
              if (answer instanceof PeerAnswer.Hashed hashed) {
                return new Answer(other, hashed.hash());
              }
              // A member that has just started has no content to hash yet, which is no fault.
              LOG.atLevel(STARTING.equals(answer) ? Level.DEBUG : Level.WARN)
                  .log(
                      "failed hash kv request peer-id={} requested-revision={} reason={}",
                      other,
                      query.revision(),
                      failure == null ? answer : failure.toString());
              return null;
            });
  }
}
