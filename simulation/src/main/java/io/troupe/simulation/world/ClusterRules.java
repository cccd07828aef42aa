package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.lease.LeaseChange;
import io.troupe.machine.Applied;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.mvcc.HashResult;
import io.troupe.raft.Outgoing;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.raft.membership.MembershipRules;
import io.troupe.simulation.history.History;
import io.troupe.simulation.history.LeaseEnd;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Invariants of all members together, checked at each event. */
final class ClusterRules {
  private record Position(long index, long term) {}

  private record Placed(Entry entry, long prevTerm) {}

  private final History history;
  private final Coverage coverage;
  private final Map<Long, NodeId> leaders = new HashMap<>();
  private final Map<Position, Placed> placed = new HashMap<>();
  private final List<Entry> truth = new ArrayList<>();
  private final ReferenceState reference = new ReferenceState();
  private final Map<Long, Long> digests = new HashMap<>();
  private final Map<Long, HashResult.Hash> compactionHashes = new HashMap<>();
  private final Set<Long> appliedIds = new HashSet<>();
  private final Set<Long> refusedIds = new HashSet<>();
  private final Map<Long, Long> onlyInTerm = new HashMap<>();
  private final SortedMap<Long, Membership> memberships = new TreeMap<>();
  private final Map<Long, SortedMap<NodeId, List<String>>> peerUrls = new HashMap<>();

  /** By term, the last index that its leader committed. */
  private final NavigableMap<Long, Long> committedIn = new TreeMap<>();

  private final Set<Long> endedLeases = new HashSet<>();
  private final Set<NodeId> damaged = new HashSet<>();

  private final VersionChecks versions;

  ClusterRules(History history, Coverage coverage) {
    this.history = history;
    this.coverage = coverage;
    this.versions = new VersionChecks(coverage);
    memberships.put(0L, Membership.EMPTY);
    peerUrls.put(0L, new TreeMap<>());
  }

  /**
   * Checks that a term has at most one leader, and that it has all entries that were committed in
   * earlier terms (3.4, 3.6.1). Later terms do not count: votes that a pause delayed can elect a
   * member in a term that the other members have left long ago.
   */
  void elected(NodeId member, long term, SimDisk log) {
    NodeId former = leaders.putIfAbsent(term, member);
    require(former == null || former.equals(member), "two leaders in a term", term, former, member);
    if (former != null) {
      return;
    }
    coverage.count("elections won");
    long committedBefore =
        committedIn.headMap(term).values().stream().mapToLong(index -> index).max().orElse(0);
    long newest = Math.min(committedBefore, truth.size());
    for (long i = newest; i > 0 && i > newest - 300; i--) {
      long has = log.termAfterAll(i);
      if (has < 0 && i <= log.compactedIndex()) {
        break;
      }
      require(has == truth.get((int) i - 1).term(), "leader lacks a committed entry", i, has, term);
    }
  }

  /** Checks log matching (3.5): an index and a term identify one entry, and one predecessor. */
  void appended(List<Entry> entries, SimDisk log) {
    long prevTerm = entries.isEmpty() ? 0 : log.termAfterAll(entries.get(0).index() - 1);
    for (Entry entry : entries) {
      Placed now = new Placed(entry, prevTerm);
      Placed before = placed.putIfAbsent(new Position(entry.index(), entry.term()), now);
      require(before == null || before.equals(now), "log matching broken", before, now);
      prevTerm = entry.term();
    }
  }

  /** An operation is proposed for the leadership of one term alone. */
  void proposedInTerm(RequestId id, long term) {
    onlyInTerm.put(id.value(), term);
  }

  /**
   * Checks the commit index of a leader. It advances only by counting entries of the leader's own
   * term (5.4.2): an older entry, even if a majority has it, may still be replaced.
   */
  void counted(NodeId leader, RaftStatus before, RaftStatus after, SimDisk log) {
    if (after.commit() > before.commit()) {
      long term = log.termAfterAll(after.commit());
      require(term == after.term(), "an older entry committed by counting", leader, term, after);
      committedIn.merge(after.term(), after.commit(), Math::max);
      coverage.count("commits by counting");
    }
  }

  /** Checks that the disk has everything that the message requires to be durable. */
  void sending(NodeId from, Outgoing outgoing, SimDisk disk) {
    HardState durable = disk.state();
    PeerMessage message = outgoing.message();
    if (message instanceof PeerMessage.AppendReply reply && !reply.rejected()) {
      require(reply.term() <= durable.term(), "reply before its term is durable", from, reply);
      // One force may make entries durable and then replace them in a later term. A reply of the
      // earlier term is correct: the entries were in the log before that term began here.
      long has = reply.term() < durable.term() ? disk.durableIndex() : disk.lastIndex();
      require(reply.index() <= has, "reply before durable", from, reply);
    } else if (message instanceof PeerMessage.VoteReply reply
        && !reply.preVote()
        && reply.granted()) {
      boolean stored = durable.term() == reply.term() && durable.vote().equals(outgoing.to());
      require(stored || durable.term() > reply.term(), "vote before durable", from, reply);
    } else if (message instanceof PeerMessage.RequestVote request && !request.preVote()) {
      require(durable.term() >= request.term(), "candidate before its vote is durable", from);
    }
  }

  /**
   * Checks that applied prefixes are equal, and that no operation is applied twice or after it was
   * refused (3.6.3).
   *
   * @param operation of the entry; null if it has none
   */
  void applying(NodeId member, Entry entry, @Nullable DecodedOperation operation) {
    int at = (int) entry.index() - 1;
    require(at <= truth.size(), "applied with a gap", member, entry);
    if (at < truth.size()) {
      require(truth.get(at).equals(entry), "applied prefixes differ", member, entry, truth.get(at));
      return;
    }
    truth.add(entry);
    coverage.count("entries committed");
    if (operation != null) {
      long requestId = operation.id().value();
      require(appliedIds.add(requestId), "an operation is in the log twice", member, entry);
      require(!refusedIds.contains(requestId), "refused, yet applied", member, entry);
      long only = onlyInTerm.getOrDefault(requestId, entry.term());
      require(only == entry.term(), "proposed for the leadership of another term", only, entry);
    }
    Applied outcome = reference.apply(entry, operation);
    versions.applied(
        entry.index(), operation == null ? null : operation.operation(), reference.view());
    if (!outcome.events().isEmpty()) {
      history.committed(outcome.revision(), outcome.events());
    }
  }

  /** The rules on versions. */
  VersionChecks versions() {
    return versions;
  }

  /** Marks the member as damaged: from now on its state differs from the other members'. */
  void damaged(NodeId member) {
    damaged.add(member);
  }

  /** Returns true if the state of any member was damaged. */
  boolean isDamaged() {
    return !damaged.isEmpty();
  }

  /**
   * Checks that applying an entry has the same outcome on all members, as {@link
   * ReferenceState#isRight}.
   */
  void applied(NodeId member, Entry entry, Applied outcome, long nowUs) {
    if (damaged.contains(member)) {
      return;
    }
    require(
        reference.isRight(entry, outcome),
        "another outcome",
        member,
        outcome,
        reference.outcome(entry.index()));
    for (LeaseChange change : outcome.leaseChanges()) {
      if (change instanceof LeaseChange.Revoked revoked && endedLeases.add(revoked.id())) {
        history.add(new LeaseEnd(revoked.id(), nowUs));
      }
    }
  }

  /** Records the membership that an entry makes, and its peer URLs. */
  void configured(ConfEntry entry) {
    Membership after = entry.after();
    known(after);
    if (!peerUrls.containsKey(after.version())) {
      long before = memberships.headMap(after.version()).lastKey();
      SortedMap<NodeId, List<String>> urls = peerUrls.get(before);
      require(urls != null, "memberships are applied out of order", after);
      peerUrls.put(
          after.version(),
          MembershipRules.peerUrlsAfter(urls == null ? new TreeMap<>() : urls, entry));
      coverage.count("membership entries committed");
      for (ConfChange change : entry.changes()) {
        coverage.count("membership " + change.kind());
      }
    }
  }

  /**
   * Checks that an index has one membership, on every member and however the member learned of it.
   */
  void known(Membership membership) {
    Membership before = memberships.putIfAbsent(membership.version(), membership);
    require(before == null || before.equals(membership), "memberships differ", before, membership);
  }

  /**
   * Checks that a member uses a membership that is not older than the last one that it knows to be
   * committed.
   */
  void usesMembership(NodeId member, long commit, Membership membership) {
    long last = memberships.headMap(commit + 1).lastKey();
    require(membership.version() >= last, "uses an old membership", member, membership, last);
  }

  SortedMap<NodeId, List<String>> peerUrls(Membership membership) {
    return peerUrls.getOrDefault(membership.version(), new TreeMap<>());
  }

  boolean isRemoved(NodeId member) {
    return memberships.values().stream().anyMatch(m -> m.removed().contains(member));
  }

  /** Checks that content is equal at an equal applied index. */
  void digest(NodeId member, long appliedIndex, long digest) {
    if (damaged.contains(member)) {
      return;
    }
    Long before = digests.putIfAbsent(appliedIndex, digest);
    require(before == null || before == digest, "states differ", member, appliedIndex);
  }

  /**
   * Checks that members have equal hashes of a compaction (MT6), however fast each of them removes
   * versions.
   */
  void compactionHash(NodeId member, HashResult.Hash hash) {
    if (damaged.contains(member)) {
      return;
    }
    HashResult.Hash before = compactionHashes.putIfAbsent(hash.hashRevision(), hash);
    require(before == null || before.equals(hash), "hashes of a compaction differ", member, hash);
    coverage.count("hashes of compactions compared", before == null ? 0 : 1);
  }

  /** Checks that a snapshot is the state of all entries up to its index. */
  void installed(NodeId member, SnapshotMark mark) {
    require(mark.index() <= truth.size(), "snapshot of unapplied entries", member, mark);
    Entry last = truth.get((int) mark.index() - 1);
    require(last.term() == mark.term(), "snapshot of another log", member, mark, last);
    Membership right = Membership.EMPTY;
    for (int i = 0; i < mark.index(); i++) {
      if (truth.get(i).kind() == Entry.Kind.CONF_CHANGE) {
        right = MembershipCodec.decodeEntry(truth.get(i).data()).after();
      }
    }
    require(right.equals(mark.membership()), "snapshot with another membership", member, mark);
  }

  void rejected(RequestId id) {
    require(!appliedIds.contains(id.value()), "refused after it was applied", id);
    refusedIds.add(id.value());
  }

  /** Index of the last entry that any member applied. */
  long truthLength() {
    return truth.size();
  }

  /** Number of memberships so far, including the empty one. */
  int membershipCount() {
    return memberships.size();
  }
}
