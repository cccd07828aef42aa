package io.troupe.simulation.world;

import io.troupe.model.Bytes;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.History;
import io.troupe.simulation.history.Request;
import io.troupe.version.VersionRules;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A cluster: members, network, time, and the recorded history. One thread. */
public final class SimWorld {
  private final SimSettings settings;
  private final SplittableRandom random;
  private final Scheduler scheduler = new Scheduler();
  private final Coverage coverage = new Coverage();
  private final History history = new History();
  private final Trace trace;
  private final ClusterRules rules = new ClusterRules(history, coverage);
  private final SimNetwork network;
  private final List<SimMember> members = new ArrayList<>();
  private final Map<Long, Operation> operations = new HashMap<>();
  private long requests;
  private long sessions;

  /**
   * A cluster of members that are not started yet.
   *
   * @param hashing whether the trace computes a hash of all events
   */
  public SimWorld(SimSettings settings, SplittableRandom random, boolean hashing) {
    this.settings = settings;
    this.random = random;
    this.trace = new Trace(scheduler, hashing);
    this.network = new SimNetwork(scheduler, random.split(), coverage, settings.loss());
    List<ConfChange> first = new ArrayList<>();
    for (int i = 1; i <= settings.voters() + settings.spares(); i++) {
      SimMember member = new SimMember(new NodeId(i), this);
      members.add(member);
      if (i <= settings.voters()) {
        first.add(addition(ConfChange.Kind.ADD_VOTER, member.id()));
      }
    }
    for (SimMember member : members) {
      member.install(new EtcdVersion(3, settings.versions().firstMinor(), 0));
    }
    for (SimMember member : members.subList(0, settings.voters())) {
      member.fill(RaftState.bootstrap(member.id(), first));
    }
  }

  /** The addition of a member. Its address is unreachable until it is started. */
  public static ConfChange addition(ConfChange.Kind kind, NodeId member) {
    return new ConfChange(kind, member, List.of("sim://" + member));
  }

  /** Starts the first members. */
  public void start() {
    members.subList(0, settings.voters()).forEach(SimMember::boot);
  }

  /** Settings of this run. */
  public SimSettings settings() {
    return settings;
  }

  /** Virtual time. */
  public Scheduler scheduler() {
    return scheduler;
  }

  /** The network. */
  public SimNetwork network() {
    return network;
  }

  /** Counted events so far. */
  public Coverage coverage() {
    return coverage;
  }

  /** Calls and watches of clients, and the committed events. */
  public History history() {
    return history;
  }

  /** The last events. */
  public Trace trace() {
    return trace;
  }

  /** All members, including spares that may be added, by id. */
  public List<SimMember> members() {
    return Collections.unmodifiableList(members);
  }

  /** Returns the member with an id. */
  public SimMember member(NodeId id) {
    return members.get((int) id.value() - 1);
  }

  /** Index of the last entry that any member applied. */
  public long lastApplied() {
    return rules.truthLength();
  }

  /** Creates an independent random source for a part of the world. */
  public SplittableRandom splitRandom() {
    return random.split();
  }

  /** The member that leads in the highest term, or null. */
  public @Nullable SimMember leader() {
    SimMember best = null;
    long term = 0;
    for (SimMember member : members) {
      MemberRun run = member.run();
      if (run != null && run.leads() && run.status().term() > term) {
        best = member;
        term = run.status().term();
      }
    }
    return best;
  }

  /**
   * Sends a client's request to a member. {@code reply} receives the outcome, or is never called.
   */
  public void call(SimMember member, Request request, Consumer<Answer> reply) {
    network.fromOrToClient(() -> member.request(request, reply));
  }

  /** The newest membership that a running member applied. */
  public Membership membership() {
    Membership newest = Membership.EMPTY;
    for (SimMember member : members) {
      Membership its = member.membership();
      newest = its.version() > newest.version() ? its : newest;
    }
    return newest;
  }

  // ---- for members

  ClusterRules rules() {
    return rules;
  }

  long nextSession() {
    return ++sessions;
  }

  /** Registers an operation; entries contain only its number. */
  long register(Operation operation) {
    operations.put(++requests, operation);
    return requests;
  }

  Bytes encode(long request) {
    return Bytes.wrap(ByteBuffer.allocate(8).putLong(request).array());
  }

  long decode(Bytes data) {
    return ByteBuffer.wrap(data.toArray()).getLong();
  }

  Operation operation(long request) {
    Operation operation = operations.get(request);
    if (operation == null) {
      throw new Invariant.Broken("entry of an unknown proposal " + request);
    }
    return operation;
  }

  void deliver(NodeId from, NodeId to, PeerMessage message) {
    deliver(from, to, run -> run.raft.fromPeer(from, message));
  }

  /** Delivers to another member, unless it is lost. */
  void deliver(NodeId from, NodeId to, Consumer<MemberRun> delivery) {
    network.send(
        from,
        to,
        () -> {
          MemberRun run = member(to).run();
          if (run != null && areConnected(from, to)) {
            run.process.arrive(() -> delivery.accept(run));
          }
        });
  }

  /** Members whose versions are too far apart refuse the connections of each other. */
  private boolean areConnected(NodeId from, NodeId to) {
    boolean connected =
        VersionRules.refusePeer(member(to).program(), member(from).program()) == null;
    if (!connected) {
      coverage.count("messages refused because of versions");
    }
    return connected;
  }

  /** Sends a leader's digest to all other members. */
  void publishDigest(NodeId from, long term, long index, long digest) {
    for (SimMember member : members) {
      if (!member.id().equals(from)) {
        network.send(
            from,
            member.id(),
            () -> {
              if (areConnected(from, member.id())) {
                member.receiveDigest(from, term, index, digest);
              }
            });
      }
    }
  }

  /** Delivers a whole snapshot. Returns false if it does not arrive. */
  boolean deliverSnapshot(NodeId from, NodeId to, long term, SimDisk.Snapshot snapshot) {
    MemberRun run = member(to).run();
    if (run == null
        || network.isCut(from, to)
        || !areConnected(from, to)
        || (!network.isPerfect() && random.nextInt(8) == 0)) {
      coverage.count("snapshot transfers failed");
      return false;
    }
    run.process.arrive(() -> run.snapshots.receive(from, term, snapshot));
    return true;
  }
}
