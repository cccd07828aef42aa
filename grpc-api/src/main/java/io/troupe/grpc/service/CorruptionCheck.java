package io.troupe.grpc.service;

import io.troupe.grpc.service.CorruptionRules.Answer;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
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

/**
 * Compares the content of all members by hashes (Q5). The digest that members tell each other
 * anyway (docs/decisions/0060) finds entries that did something else; these checks find also what
 * was damaged at rest, at the price of reading everything. Thread-safe.
 */
final class CorruptionCheck {
  private static final Logger LOG = LoggerFactory.getLogger(CorruptionCheck.class);

  /** A hash of a long history takes its time. */
  static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Member member;
  private final ReadGate gate;
  private final Proposer proposer;
  private final PeerQueries peers;
  private final AtomicBoolean running = new AtomicBoolean();
  private volatile long checkedRevision;

  CorruptionCheck(Member member, ReadGate gate, Proposer proposer, PeerQueries peers) {
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

  /** A check under way. */
  private interface CheckRun {
    CompletionStage<Void> run();
  }

  /** The leader compares everybody's current content (corrupt-check-time). */
  CompletionStage<Void> periodic() {
    return run(
        "corruption check",
        () ->
            hash(0)
                .thenCompose(
                    before ->
                        ask(before.hashRevision(), PATIENCE)
                            .thenCompose(
                                answers ->
                                    gate.linearizable(false, () -> member.state().hashKv(0))
                                        .thenCompose(after -> judge(before, after, answers)))));
  }

  private CompletionStage<Void> judge(KvHash before, KvHash after, List<Answer> answers) {
    return CorruptionRules.periodic(self(), before, after, answers)
        .map(accused -> accuse(List.of(accused), before, answers))
        .orElseGet(
            () -> {
              LOG.info(
                  "finished periodic corruption check revision={} members={}",
                  before.hashRevision(),
                  answers.size());
              return CompletableFuture.completedFuture(null);
            });
  }

  /**
   * The leader compares the hashes that compactions left (compact-hash-check-time), the newest
   * first, until one could be compared.
   */
  CompletionStage<Void> compactions() {
    return run(
        "check of compaction hashes",
        () -> {
          List<KvHash> unchecked =
              member.state().compactionHashes().stream()
                  .filter(hash -> hash.hashRevision() > checkedRevision)
                  .toList();
          return compaction(unchecked, 0);
        });
  }

  private CompletionStage<Void> compaction(List<KvHash> unchecked, int at) {
    if (at == unchecked.size()) {
      return CompletableFuture.completedFuture(null);
    }
    KvHash own = unchecked.get(at);
    int others = others().size();
    return ask(own.hashRevision(), PATIENCE)
        .thenCompose(
            answers -> {
              List<NodeId> accused = CorruptionRules.ofCompaction(self(), own, others + 1, answers);
              if (!accused.isEmpty()) {
                checkedRevision = own.hashRevision();
                return accuse(accused, own, answers);
              }
              if (CorruptionRules.comparable(own, answers).size() == others) {
                checkedRevision = own.hashRevision();
                LOG.info(
                    "finished compaction hash check revision={} members={}",
                    own.hashRevision(),
                    others + 1);
                return CompletableFuture.completedFuture(null);
              }
              return compaction(unchecked, at + 1);
            });
  }

  private CompletionStage<Void> accuse(List<NodeId> accused, KvHash own, List<Answer> answers) {
    LOG.error(
        "found different content, raising alarm CORRUPT accused={} own={} answers={}",
        accused,
        own,
        answers);
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
    return hash(0)
        .thenCompose(
            own ->
                ask(own.hashRevision(), patience)
                    .thenApply(
                        answers -> {
                          List<NodeId> differing =
                              CorruptionRules.comparable(own, answers).stream()
                                  .filter(answer -> answer.hash().hash() != own.hash())
                                  .map(Answer::member)
                                  .toList();
                          LOG.info(
                              "initial corruption check revision={} answers={} differing={}",
                              own.hashRevision(),
                              answers.size(),
                              differing);
                          return differing;
                        }));
  }

  private CompletionStage<KvHash> hash(long revision) {
    return gate.serializable(() -> member.state().hashKv(revision));
  }

  private List<NodeId> others() {
    return member.state().cluster().membership().members().stream()
        .filter(id -> !id.equals(self()))
        .toList();
  }

  /** What the others say who say something, in the order of their ids. */
  private CompletionStage<List<Answer>> ask(long revision, Duration patience) {
    List<CompletableFuture<@Nullable Answer>> asked =
        others().stream()
            .map(other -> ask(other, revision, patience).toCompletableFuture())
            .toList();
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

  private CompletionStage<@Nullable Answer> ask(NodeId other, long revision, Duration patience) {
    List<String> urls = member.state().cluster().peerUrls().getOrDefault(other, List.of());
    if (urls.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    return peers
        .ask(urls.get(0), new PeerQuery.HashQuery(revision), patience)
        .handle(
            (answer, failure) -> {
              if (answer instanceof PeerAnswer.Hashed hashed) {
                return new Answer(other, hashed.hash());
              }
              LOG.warn(
                  "no hash of a member to compare with member={} revision={} reason={}",
                  other,
                  revision,
                  failure == null ? answer : failure.toString());
              return null;
            });
  }
}
