package io.troupe.raft;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One member, number 1, its effects, and short ways to bring it into the state that a test needs.
 */
final class RaftFixture {
  static final NodeId ONE = new NodeId(1);
  static final NodeId TWO = new NodeId(2);
  static final NodeId THREE = new NodeId(3);
  static final RaftSettings SETTINGS = new RaftSettings(10, 2, 4, 1000, 2, 100_000, 8, 100_000, 30);

  final RecordingEffects effects = new RecordingEffects();
  final RaftCore core;

  RaftFixture(RaftState state, RaftSettings settings) {
    core = new RaftCore(state, settings, new SplittableRandom(7), effects);
    core.start();
  }

  /** A fresh member among {@code voters} voters. */
  static RaftFixture fresh(int voters) {
    return new RaftFixture(RaftState.fresh(ONE, voters(voters)), SETTINGS);
  }

  /** A member of three with a log of these terms, at {@code term}, with nothing committed. */
  static RaftFixture withLog(long term, long... entryTerms) {
    RaftFixture fixture =
        new RaftFixture(
            new RaftState(
                ONE, new HardState(term, NodeId.NONE, 0), voters(3), 0, 0, log(entryTerms), 0),
            SETTINGS);
    fixture.effects.take();
    return fixture;
  }

  static Membership voters(int count) {
    NodeId[] ids = new NodeId[count];
    for (int i = 0; i < count; i++) {
      ids[i] = new NodeId(i + 1);
    }
    return Membership.ofVoters(ids);
  }

  static List<Entry> log(long... entryTerms) {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < entryTerms.length; i++) {
      entries.add(entry(entryTerms[i], i + 1));
    }
    return entries;
  }

  static Entry entry(long term, long index) {
    return new Entry(term, index, Entry.Kind.OPERATION, Bytes.utf8("e" + index + "@" + term));
  }

  static Entry noop(long term, long index) {
    return new Entry(term, index, Entry.Kind.NOOP, Bytes.EMPTY);
  }

  static Entry operation(long term, long index, String text) {
    return new Entry(term, index, Entry.Kind.OPERATION, Bytes.utf8(text));
  }

  static List<Proposal> proposals(String... texts) {
    List<Proposal> batch = new ArrayList<>();
    for (String text : texts) {
      batch.add(new Proposal(id(text), Bytes.utf8(text)));
    }
    return batch;
  }

  static RequestId id(String text) {
    return new RequestId(text.hashCode());
  }

  RaftFixture ticks(int count) {
    for (int i = 0; i < count; i++) {
      core.tick();
    }
    return this;
  }

  /** Wins the next election with the vote of member 2; the noop is in flight but not durable. */
  RaftFixture lead() {
    for (int i = 0;
        i < 2 * SETTINGS.electionTicks() && core.status().role() == RaftRole.FOLLOWER;
        i++) {
      core.tick();
    }
    long next = core.status().term() + 1;
    core.receive(TWO, new PeerMessage.VoteReply(next, true, true));
    persisted(next, 0);
    core.receive(TWO, new PeerMessage.VoteReply(next, false, true));
    return this;
  }

  /**
   * As {@link #lead}, and the noop is durable here and at member 2, so that it is committed and
   * applied.
   */
  RaftFixture leadAndCommit() {
    lead();
    durable();
    ack(TWO, core.status().lastIndex());
    core.applied(core.status().commit());
    effects.take();
    return this;
  }

  /** The disk completes everything. */
  void durable() {
    long number = effects.completeAll();
    if (number > 0) {
      core.persisted(number);
    }
  }

  /**
   * The disk completes the oldest write of that term that ends at that index (0: without entries).
   */
  void persisted(long term, long lastIndex) {
    core.persisted(effects.complete(term, lastIndex));
  }

  void ack(NodeId from, long index) {
    core.receive(from, PeerMessage.AppendReply.matched(core.status().term(), index));
  }

  void append(long term, long prevIndex, long prevTerm, long commit, Entry... entries) {
    core.receive(TWO, new PeerMessage.Append(term, prevIndex, prevTerm, List.of(entries), commit));
  }

  List<PeerMessage> sentTo(NodeId to) {
    return effects.take(RecordingEffects.Send.class).stream()
        .filter(send -> send.to().equals(to))
        .map(RecordingEffects.Send::message)
        .toList();
  }
}
