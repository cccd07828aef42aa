package io.troupe.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.OrderedStore;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** One log of membership changes, applied on two members in different batches and with restarts. */
class MembershipStateProperties {
  private static final int STEPS = 60;
  private static final int MEMBERS = 5;

  private sealed interface Step {}

  private record Change(ConfEntry entry) implements Step {}

  private record Publish(NodeId member, String name) implements Step {}

  @Property(tries = 300)
  void twoStoresReachEqualState(@ForAll long seed) {
    List<Step> log = log(new SplittableRandom(seed));
    StateView one = applied(log, 1, false);
    StateView other = applied(log, 7, true);
    assertThat(other).as("seed=%d", seed).isEqualTo(one);
    assertThat(one.peerUrls().keySet())
        .as("seed=%d: every member has addresses", seed)
        .isEqualTo(one.membership().members());
    assertThat(one.membership().members())
        .as("seed=%d: only members are known", seed)
        .containsAll(one.members().keySet());
    assertThat(one.peerUrls()).as("seed=%d", seed).isEqualTo(expectedUrls(log));
  }

  /** Any changes that the rules allow, with the entries that follow automatically. */
  private static List<Step> log(SplittableRandom random) {
    List<Step> log = new ArrayList<>();
    Membership membership = Membership.EMPTY;
    int urls = 0;
    while (log.size() < STEPS) {
      NodeId member = new NodeId(1 + random.nextInt(MEMBERS));
      long index = log.size() + 1L;
      if (!membership.isTransitionComplete() && random.nextBoolean()) {
        ConfEntry entry = ConfEntry.following(membership, index);
        membership = entry.after();
        log.add(new Change(MembershipCodec.decodeEntry(MembershipCodec.encode(entry))));
        continue;
      }
      ConfChange.Kind kind = ConfChange.Kind.ofCode(random.nextInt(5));
      boolean addressed = kind != ConfChange.Kind.REMOVE && kind != ConfChange.Kind.PROMOTE;
      ConfChange change =
          new ConfChange(kind, member, addressed ? List.of("http://" + ++urls) : List.of());
      // Removed members never return, so few are removed.
      boolean rare = kind == ConfChange.Kind.REMOVE && random.nextInt(6) > 0;
      if (!rare && membership.refusalOf(List.of(change)) == null) {
        membership = membership.after(List.of(change), index);
        log.add(new Change(new ConfEntry(null, List.of(change), membership)));
      } else {
        log.add(new Publish(member, "name" + index));
      }
    }
    return log;
  }

  private static StateView applied(List<Step> log, int batch, boolean restarts) {
    OrderedStore store = new InMemoryOrderedStore();
    StateMachine machine = new StateMachine(store, 0);
    for (int i = 0; i < log.size(); i++) {
      if (log.get(i) instanceof Change change) {
        machine.confChange(i + 1, 1, change.entry());
      } else {
        Publish publish = (Publish) log.get(i);
        machine.apply(
            i + 1, 1, new Operation.PublishMember(publish.member(), publish.name(), List.of()));
      }
      if ((i + 1) % batch == 0) {
        machine.commit();
        machine = restarts ? new StateMachine(store, 0) : machine;
      }
    }
    machine.commit();
    return machine.view();
  }

  private static SortedMap<NodeId, List<String>> expectedUrls(List<Step> log) {
    SortedMap<NodeId, List<String>> urls = new TreeMap<>();
    for (Step step : log) {
      if (step instanceof Change change) {
        for (ConfChange one : change.entry().effective()) {
          if (!one.peerUrls().isEmpty()) {
            urls.put(one.member(), one.peerUrls());
          }
        }
        urls.keySet().removeAll(change.entry().after().removed());
      }
    }
    return urls;
  }
}
