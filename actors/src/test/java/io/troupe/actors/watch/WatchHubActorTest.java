package io.troupe.actors.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.Applied;
import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.RevisionChanges;
import io.troupe.protocol.EventPieces;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchReply;
import io.troupe.protocol.WatchRight;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.Commit;
import io.troupe.watch.EventBacklog;
import io.troupe.watch.EventFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.Done;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A hub with real streams, and revisions whose events are too large to be listed. */
class WatchHubActorTest {
  private static final int VALUE_BYTES = 100_000;

  private final ActorTestKit kit = ActorTestKit.create();
  private final TestProbe<Done> done = kit.createTestProbe();
  private final TestProbe<ActorRef<WatchStreamCommand>> opened = kit.createTestProbe();
  private final StateMachine machine = new StateMachine(new InMemoryOrderedStore(), 0);
  private final EventBacklog backlog = new EventBacklog(Long.MAX_VALUE);
  private final ActorRef<WatchCommand> hub =
      kit.spawn(
          WatchHubActor.create(
              machine.reader(),
              new WatchStreamActor.Settings(
                  1 << 20,
                  1 << 20,
                  Duration.ofHours(1),
                  Runnable::run,
                  new MemberMetrics().watch())));

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private ActorRef<WatchStreamCommand> watch(KeyRange range, boolean fragment) throws Exception {
    hub.tell(new WatchCommand.OpenStream(MemoryBudget.UNLIMITED.share(), opened.getRef()::tell));
    ActorRef<WatchStreamCommand> stream = opened.receiveMessage();
    stream.tell(
        new WatchStreamCommand.Create(
            range,
            0,
            0,
            EventFilter.NONE,
            true,
            false,
            fragment,
            WatchRight.ALL,
            done.getRef()::tell));
    done.receiveMessage();
    assertThat(next(stream)).hasSize(1).allMatch(reply -> reply instanceof WatchReply.Created);
    return stream;
  }

  private static List<WatchReply> next(ActorRef<WatchStreamCommand> stream) throws Exception {
    CompletableFuture<List<WatchReply>> replies = new CompletableFuture<>();
    stream.tell(new WatchStreamCommand.Next(replies));
    return replies.get(10, TimeUnit.SECONDS);
  }

  /** Applies and publishes, as the apply actor does. */
  private RevisionChanges commit(Operation operation) {
    Applied applied = machine.apply(machine.appliedIndex() + 1, 1, operation);
    machine.commit();
    RevisionChanges changes = applied.changes();
    hub.tell(
        new WatchCommand.Committed(
            List.of(new Commit(applied.revision(), changes.events(), changes.unlisted())),
            Objects.requireNonNull(backlog.tryTake(changes.bytes()))));
    return changes;
  }

  private static Operation.Put put(String key, int bytes) {
    Bytes value = Bytes.wrap(new byte[bytes]);
    return new Operation.Put(Bytes.utf8(key), value, 0, false, false, false);
  }

  private static KeyRange range(String from, String to) {
    return new KeyRange(Bytes.utf8(from), Bytes.utf8(to));
  }

  private static List<Event> events(EventPieces pieces) throws Exception {
    List<Event> all = new ArrayList<>();
    int from = 0;
    int reads = 0;
    do {
      EventPieces.Piece piece = pieces.read(from).toCompletableFuture().get(10, TimeUnit.SECONDS);
      all.addAll(piece.events());
      from = piece.next();
      reads++;
    } while (from != EventPieces.END);
    assertThat(reads).isGreaterThan(2);
    return all;
  }

  @Test
  void watchersOfLargeRevisionReadItInPiecesAndOtherWatchersStayLive() throws Exception {
    for (int i = 0; i < 60; i++) {
      commit(put("a" + (10 + i), VALUE_BYTES));
    }
    ActorRef<WatchStreamCommand> whole = watch(range("a", "b"), false);
    ActorRef<WatchStreamCommand> key = watch(KeyRange.single(Bytes.utf8("a33")), true);
    ActorRef<WatchStreamCommand> other = watch(range("b", "c"), false);

    RevisionChanges changes = commit(new Operation.DeleteRange(range("a", "b"), false));
    assertThat(changes.unlisted()).isEqualTo(range("a10", "a69\0"));
    long deletion = machine.currentRevision();

    WatchReply.LargeRevision large = (WatchReply.LargeRevision) next(whole).get(0);
    assertThat(large.revision()).isEqualTo(deletion);
    List<Event> events = events(large.pieces());
    assertThat(events).hasSize(60);
    assertThat(events)
        .allMatch(event -> event.prev() != null && event.prev().value().length() == VALUE_BYTES);
    // A single event is not a large revision.
    WatchReply.Events single = (WatchReply.Events) next(key).get(0);
    assertThat(single.events()).hasSize(1);

    // All of them are live again.
    commit(put("a33", 1));
    commit(put("b", 1));
    assertThat(((WatchReply.Events) next(whole).get(0)).events()).hasSize(1);
    assertThat(((WatchReply.Events) next(key).get(0)).events()).hasSize(1);
    WatchReply.Events live = (WatchReply.Events) next(other).get(0);
    assertThat(live.events()).hasSize(1);
    assertThat(live.revision()).isEqualTo(deletion + 2);
  }
}
