package io.troupe.simulation.world;

import io.troupe.model.EtcdVersion;
import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.raft.Outgoing;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.membership.Membership;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Request;
import io.troupe.watch.EventBacklog;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One run of a member: its actors and the requests of its clients, as in the real process. The
 * actors communicate through mailboxes. Work that the real process does on another thread is never
 * done in the same step.
 */
final class MemberRun {
  /** Receives a read index, or its refusal. */
  interface ReadIndexWaiter {
    void ready(long index);

    void failed(Refusal reason);
  }

  final NodeId id;
  final long session;
  final EtcdVersion server;
  final SimWorld world;
  final SimDisk disk;
  final SimProcess process;
  final SplittableRandom random;
  final ClientMemory memory;
  final EventBacklog backlog;
  final SimRaftActor raft;
  final SimWalActor wal;
  final SimApplyActor apply;
  final SimCompactionActor compaction;
  final SimLeaseActor lease;
  final SimSnapshotActor snapshots;
  final WatchHub watch;
  final @Nullable SimVersions versions;
  private boolean published;

  /** Highest number in the leader's replies to forwarded renewals of the term. */
  private long seenNumber;

  private long seenTerm;

  /** The actors stop: clients are refused. */
  private boolean closed;

  MemberRun(SimMember member, SimWorld world, long session) {
    this.id = member.id();
    this.session = session;
    this.server = member.program();
    this.world = world;
    this.disk = member.disk();
    this.random = world.splitRandom();
    this.process = new SimProcess(world.scheduler());
    this.memory = new ClientMemory(this);
    this.backlog = new EventBacklog(world.settings().memory().backlogBytes());
    this.wal = new SimWalActor(this);
    this.apply = new SimApplyActor(this, disk.openState());
    this.compaction =
        new SimCompactionActor(this, apply.machine().compactor(), apply.machine().reader());
    this.lease = new SimLeaseActor(this, apply.machine().reader().leases());
    this.snapshots = new SimSnapshotActor(this);
    this.watch = new WatchHub(this);
    this.raft = new SimRaftActor(this);
    this.versions = world.settings().versions().change() ? new SimVersions(this, server) : null;
  }

  SimActor actor() {
    return new SimActor(process, world.scheduler(), random, world.settings().slowActors());
  }

  void start() {
    raft.start();
    lease.start();
    apply.start();
    snapshots.start();
    compaction.start();
    memory.start();
    if (versions != null) {
      versions.start();
    }
    process.after(200_000, this::publish);
  }

  /**
   * Repeats until it has succeeded, as the real process does: an unpublished member does not count
   * as started.
   */
  private void publish() {
    if (!published) {
      raft.propose(
          new Operation.PublishMember(id, "m" + id, List.of()),
          outcome -> published |= outcome instanceof Answer.Done);
      process.after(1_000_000, this::publish);
    }
  }

  /**
   * The disk has replaced log and state: the member refuses clients, the actors stop one after the
   * other when they have handled their messages, and start again from the disk.
   */
  void installed() {
    process.after(
        random.nextInt(2_000),
        () -> {
          closed = true;
          raft.stop(() -> apply.stop(() -> world.member(id).reopen()));
        });
  }

  RaftStatus status() {
    return raft.status();
  }

  boolean leads() {
    return raft.leads();
  }

  /** True only if no other member could lead. */
  boolean isSoleVoter() {
    Membership now = raft.membership();
    return leads()
        && now.voters().equals(Set.of(id))
        && now.outgoing().isEmpty()
        && now.leaving().isEmpty();
  }

  // ---- from outside

  /** Handles a client's request. {@code reply} receives the outcome, or is never called. */
  void request(Request request, Consumer<Answer> reply) {
    process.arrive(
        () -> {
          ClientMemory.Call call = memory.open(reply);
          handle(request, call.share(), call::answer);
        });
  }

  void fromPeerDigest(NodeId from, long term, long index, long digest) {
    process.arrive(() -> raft.fromPeerDigest(from, term, index, digest));
  }

  private void handle(Request request, MemoryBudget.Share response, Consumer<Answer> reply) {
    Refusal refusal = closed ? Refusal.NO_LEADER : refusal(request);
    if (refusal != null) {
      reply.accept(new Answer.Refused(refusal));
      return;
    }
    if (request instanceof Request.Write write) {
      raft.propose(write.operation(), response, reply);
    } else if (request instanceof Request.Read read) {
      if (read.serializable()) {
        serveRead(read.query(), response, reply);
      } else {
        raft.readIndex(
            new ReadIndexWaiter() {
              @Override
              public void ready(long index) {
                serveRead(read.query(), response, reply);
              }

              @Override
              public void failed(Refusal reason) {
                reply.accept(new Answer.Refused(reason));
              }
            });
      }
    } else if (request instanceof Request.KeepAlive renew) {
      if (leads() || status().leader().isNone()) {
        lease.keepAlive(renew.lease(), reply);
      } else {
        forward(renew.lease(), status().leader(), reply);
      }
    } else if (request instanceof Request.TimeToLive query) {
      lease.timeToLive(query.lease(), reply);
    }
  }

  private void forward(long renewed, NodeId leader, Consumer<Answer> reply) {
    long term = status().term();
    long seen = seenTerm == term ? seenNumber : 0;
    Once<Answer> back = new Once<>(reply);
    world.deliver(
        id,
        leader,
        to ->
            to.lease.forwarded(
                renewed,
                id,
                term,
                seen,
                (answer, number) ->
                    world.deliver(
                        leader, id, self -> self.received(session, term, number, back, answer))));
  }

  /** A reply to a query of an earlier run is lost. */
  private void received(long run, long term, long number, Once<Answer> back, Answer answer) {
    if (run != session) {
      return;
    }
    if (term > seenTerm || (term == seenTerm && number > seenNumber)) {
      seenTerm = term;
      seenNumber = number;
    }
    back.accept(answer);
  }

  /**
   * Refusal by the gateway because of the role or the state of this member (LN1, LN2,
   * docs/decisions/0060); null if there is none.
   */
  private @Nullable Refusal refusal(Request request) {
    boolean local = request instanceof Request.Read read && read.serializable();
    if (!local && SimDisk.membership(apply.machine()).learners().contains(id)) {
      return Refusal.LEARNER;
    }
    return apply.isCorrupt() ? Refusal.CORRUPT : null;
  }

  /** Reads run on their own dispatcher. */
  private void serveRead(RangeQuery query, MemoryBudget.Share response, Consumer<Answer> reply) {
    process.after(
        random.nextInt(300),
        () -> {
          Result result =
              response.isExceeded()
                  ? new Result.Refused(Refusal.TOO_MANY_REQUESTS)
                  : apply.machine().reader().range(query, response);
          if (result instanceof Result.Refused refused && isForMemory(refused.reason())) {
            world.coverage().count("reads refused for memory");
            reply.accept(new Answer.Refused(refused.reason()));
          } else {
            reply.accept(new Answer.Done(result));
          }
        });
  }

  private static boolean isForMemory(Refusal reason) {
    return reason == Refusal.TOO_MANY_REQUESTS || reason == Refusal.ANSWER_TOO_LARGE;
  }

  /** Sends a message. */
  void transmit(NodeId to, PeerMessage message) {
    world.rules().sending(id, new Outgoing(to, message), disk);
    world.deliver(id, to, message);
  }
}
