package io.troupe.watch;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A hub and a stream with mailboxes that run in random order. */
class WatchStreamCoreTest {
  private static final KeyRange A = KeyRange.single(Bytes.utf8("a"));

  private record Request(KeyRange range, long watchId, long startRevision, boolean fragment)
      implements WatchRequest {
    @Override
    public EventFilter filter() {
      return EventFilter.NONE;
    }

    @Override
    public boolean prevKv() {
      return false;
    }

    @Override
    public boolean progressNotify() {
      return true;
    }

    @Override
    public @Nullable String denied() {
      return null;
    }
  }

  private static final class World
      implements WatchHubEffects<String>, WatchStreamEffects<Runnable> {
    final SplittableRandom random;
    final List<Event> history = new ArrayList<>();
    final List<Commit> batch = new ArrayList<>();
    final ArrayDeque<Runnable> toHub = new ArrayDeque<>();
    final ArrayDeque<Runnable> toStream = new ArrayDeque<>();
    final ArrayDeque<Runnable> reads = new ArrayDeque<>();
    final Map<Long, List<Long>> received = new TreeMap<>();

    /** Revisions of the events of each response, and the one in its header. */
    final List<String> responses = new ArrayList<>();

    final Map<Long, Request> watchers = new TreeMap<>();
    final WatchHubCore<String> hub = new WatchHubCore<>(0, this);
    final WatchStreamCore<Runnable> stream;
    boolean clientReads;
    boolean retries;
    final List<HistoryReadSize> sizes = new ArrayList<>();
    long ids;
    final List<Long> progress = new ArrayList<>();
    int returns;

    World(long seed) {
      this(seed, MemoryBudget.UNLIMITED.share());
    }

    World(long seed, MemoryBudget.Share memory) {
      this(seed, 600, memory);
    }

    World(long seed, int bufferBytes) {
      this(seed, bufferBytes, MemoryBudget.UNLIMITED.share());
    }

    private World(long seed, int bufferBytes, MemoryBudget.Share memory) {
      random = new SplittableRandom(seed);
      stream = new WatchStreamCore<>(new WatchStreamCore.Settings(bufferBytes, 300), memory, this);
      hub.opened("s");
      stream.next();
    }

    long revision() {
      return history.size();
    }

    /** Commits a revision, often together with the next ones. */
    void commit() {
      commitInBatch();
      if (random.nextBoolean()) {
        publish();
      }
    }

    void commitAlone() {
      commitInBatch();
      publish();
    }

    void publish() {
      if (!batch.isEmpty()) {
        List<Commit> commits = List.copyOf(batch);
        batch.clear();
        toHub.add(() -> hub.committed(commits));
      }
    }

    private void commitInBatch() {
      long revision = revision() + 1;
      Bytes key = Bytes.utf8(random.nextBoolean() ? "a" : "b");
      Event event =
          new Event(
              Event.Type.PUT, new KeyValue(key, revision, revision, 1, Bytes.utf8("v"), 0), null);
      history.add(event);
      switch (random.nextInt(6)) {
        case 0 -> {
          publish();
          toHub.add(() -> hub.missed(revision, revision, KeyRange.single(key)));
        }
        case 1 -> batch.add(unlisted(revision, key));
        default -> batch.add(new Commit(revision, List.of(event)));
      }
    }

    private static Commit unlisted(long revision, Bytes key) {
      return new Commit(revision, List.of(), KeyRange.single(key));
    }

    void create() {
      long id = ++ids;
      long start = random.nextLong(revision() + 20);
      Request request =
          new Request(random.nextBoolean() ? A : KeyRange.all(), id, start, random.nextBoolean());
      toStream.add(
          () -> {
            long first = start == 0 ? revision() + 1 : start;
            watchers.put(id, new Request(request.range(), id, first, request.fragment()));
            received.put(id, new ArrayList<>());
            stream.create(request, () -> {}, revision());
          });
    }

    void step() {
      ArrayDeque<Runnable> queue =
          switch (random.nextInt(3)) {
            case 0 -> toHub;
            case 1 -> toStream;
            default -> reads;
          };
      Runnable next = queue.poll();
      if (next != null) {
        next.run();
      } else if (clientReads && random.nextInt(4) == 0) {
        clientReads = false;
        toStream.add(stream::next);
      }
    }

    boolean isQuiet() {
      return toHub.isEmpty() && toStream.isEmpty() && reads.isEmpty() && !clientReads;
    }

    @Override
    public void deliver(String to, long revision, List<Delivery> deliveries) {
      toStream.add(() -> stream.deliver(revision, deliveries));
    }

    @Override
    public void joined(String to, long serial) {
      toStream.add(() -> stream.joined(serial));
    }

    @Override
    public void lagging(String to, long serial) {
      toStream.add(() -> stream.lagging(serial));
    }

    @Override
    public void readFromHistory(String to, List<Long> serials, long revision) {
      toStream.add(() -> stream.readFromHistory(serials, revision));
    }

    @Override
    public void join(long serial, KeyRange range, long nextRevision) {
      toHub.add(() -> hub.join("s", serial, range, nextRevision));
    }

    @Override
    public void leave(long serial) {
      returns++;
      toHub.add(() -> hub.leave("s", serial));
    }

    @Override
    public void askRevision(@Nullable Runnable client) {
      toHub.add(
          () -> {
            long at = hub.revision();
            toStream.add(() -> stream.revision(at, client));
          });
    }

    @Override
    public void askHandled(Runnable client) {
      toHub.add(() -> toStream.add(() -> stream.handled(client)));
    }

    @Override
    public void readHistory(long serial, WatchRequest request, long from, HistoryReadSize size) {
      sizes.add(size);
      reads.add(
          () -> {
            List<Event> found = new ArrayList<>();
            long next = from;
            while (next <= revision() && found.size() < 3) {
              Event event = history.get((int) next - 1);
              if (request.range().contains(event.kv().key())) {
                found.add(event);
              }
              next++;
            }
            long after = next;
            long store = revision();
            toStream.add(() -> stream.historyRead(serial, found, after, store));
          });
    }

    @Override
    public void created(long watchId, long revision) {}

    @Override
    public void createFailed(long revision, String reason) {
      throw new AssertionError(reason);
    }

    @Override
    public void canceled(long watchId, long revision, long compactRevision, String reason) {
      throw new AssertionError("canceled " + watchId);
    }

    @Override
    public void streamProgress(long revision) {
      progress.add(revision);
    }

    /** A progress notification covers all earlier events (W15). */
    @Override
    public void progress(long watchId, long revision) {
      assertThat(received.get(watchId)).isEqualTo(expected(watchId, revision));
    }

    List<Long> expected(long watchId, long until) {
      Request request = requireNonNull(watchers.get(watchId));
      List<Long> revisions = new ArrayList<>();
      for (long at = Math.max(1, request.startRevision()); at <= until; at++) {
        if (request.range().contains(history.get((int) at - 1).kv().key())) {
          revisions.add(at);
        }
      }
      return revisions;
    }

    @Override
    public void events(
        long watchId, long headerRevision, SharedEvents events, boolean prevKv, boolean fragment) {
      List<Long> its = requireNonNull(received.get(watchId));
      events.forEach(event -> its.add(event.event().kv().modRevision()));
      responses.add(
          events.stream()
              .map(event -> event.event().kv().modRevision() + " ")
              .collect(Collectors.joining("", "", "at " + headerRevision)));
    }

    @Override
    public void largeRevision(
        long watchId, WatchRequest request, long headerRevision, long revision) {
      throw new AssertionError("no revision is large");
    }

    @Override
    public void flush() {
      clientReads = true;
    }

    @Override
    public void retryLater() {
      retries = true;
    }

    @Override
    public void accepted(Runnable client) {
      client.run();
    }
  }

  private static void runAll(ArrayDeque<Runnable> queue) {
    for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
      next.run();
    }
  }

  /** A read of history may return revisions that the hub has not processed. */
  @Test
  void requestedProgressIsNotBelowEventsThatWereSent_W16() {
    World world = new World(1);
    world.commitAlone();
    runAll(world.toHub);
    world.commitAlone();
    Runnable second = requireNonNull(world.toHub.poll());
    world.received.put(1L, new ArrayList<>());
    world.stream.create(new Request(KeyRange.all(), 1, 1, false), () -> {}, world.revision());
    runAll(world.reads);
    runAll(world.toStream);
    assertThat(world.received.get(1L)).containsExactly(1L, 2L);
    runAll(world.toHub);
    world.stream.requestProgress(() -> {});
    runAll(world.toHub);
    runAll(world.toStream);
    assertThat(world.hub.revision()).isEqualTo(1);
    assertThat(world.progress).isEmpty();
    second.run();
    world.stream.requestProgress(() -> {});
    runAll(world.toHub);
    runAll(world.toStream);
    assertThat(world.progress).containsExactly(2L);
  }

  /** Another stream of the same connection has used up the memory and is not sent. */
  @Test
  void repliesAreHeldBackUntilRetryFindsMemory() {
    MemoryBudget budget = new MemoryBudget(100_000);
    World world = new World(1, budget.share());
    world.received.put(1L, new ArrayList<>());
    world.stream.create(new Request(KeyRange.all(), 1, 0, false), () -> {}, 0);
    runAll(world.toHub);
    runAll(world.toStream);
    world.stream.next();
    world.clientReads = false;
    MemoryBudget.Share unsent = budget.share();
    unsent.hand(200_000);
    world.stream.deliver(1, List.of(delivery(event(1, 20_000))));
    assertThat(world.received.get(1L)).containsExactly(1L);
    assertThat(world.retries).isTrue();
    world.stream.retry();
    assertThat(world.clientReads).as("still no memory").isFalse();
    unsent.close();
    world.stream.retry();
    assertThat(world.clientReads).isTrue();
  }

  /** Without the reservation each stream could hold the result of a read besides the budget. */
  @Test
  void readOfHistoryWaitsForMemory_W8() {
    MemoryBudget budget = new MemoryBudget(16 << 20);
    MemoryBudget.Share others = budget.share();
    others.shrinkTo(16 << 20);
    World world = new World(1, budget.share());
    world.commitAlone();
    runAll(world.toHub);
    world.received.put(1L, new ArrayList<>());
    world.stream.create(new Request(KeyRange.all(), 1, 1, false), () -> {}, 1);
    assertThat(world.sizes).isEmpty();
    assertThat(world.retries).isTrue();
    others.shrinkTo(15 << 20);
    world.stream.retry();
    assertThat(world.sizes).containsExactly(HistoryReadSize.LARGE);
    assertThat(budget.taken()).as("reserved").isEqualTo(16 << 20);
    runAll(world.reads);
    runAll(world.toStream);
    assertThat(world.received.get(1L)).containsExactly(1L);
    assertThat(budget.taken()).isEqualTo(15 << 20);
  }

  /** A client that holds little reads on while others use up the memory, but no large event. */
  @Test
  void modestClientReadsLittleWhileMemoryIsUsedUp_W8() {
    MemoryBudget budget = new MemoryBudget(16 << 20, 64 << 10);
    MemoryBudget.Share others = budget.holder().share();
    others.shrinkTo(16 << 20);
    World world = new World(1, budget.holder().share());
    world.commitAlone();
    world.commitAlone();
    runAll(world.toHub);
    world.received.put(1L, new ArrayList<>());
    world.stream.create(new Request(KeyRange.all(), 1, 1, false), () -> {}, 1);
    assertThat(world.sizes).containsExactly(HistoryReadSize.SMALL);
    world.reads.clear();
    world.stream.historyLarge(1, 1, 2);
    assertThat(world.sizes).as("waits for the memory of a large read").hasSize(1);
    assertThat(world.retries).isTrue();
    others.close();
    world.stream.retry();
    runAll(world.reads);
    runAll(world.toStream);
    assertThat(world.sizes).containsExactly(HistoryReadSize.SMALL, HistoryReadSize.LARGE);
    assertThat(world.received.get(1L)).containsExactly(1L, 2L);
  }

  private static SharedEvent event(long revision, int valueBytes) {
    Bytes value = Bytes.wrap(new byte[valueBytes]);
    KeyValue kv = new KeyValue(Bytes.utf8("a"), revision, revision, 1, value, 0);
    return new SharedEvent(new Event(Event.Type.PUT, kv, null));
  }

  private static Delivery delivery(SharedEvent... events) {
    return new Delivery(1, SharedEvents.ofOne(List.of(events)));
  }

  private static World worldWithWatcher(int bufferBytes) {
    World world = new World(1, bufferBytes);
    world.received.put(1L, new ArrayList<>());
    world.stream.create(new Request(KeyRange.all(), 1, 0, false), () -> {}, 0);
    runAll(world.toHub);
    runAll(world.toStream);
    return world;
  }

  @Test
  void liveRevisionsOfOneBatchShareResponse_W7() {
    World world = worldWithWatcher(10 << 20);
    world.hub.committed(
        List.of(
            new Commit(1, List.of(event(1, 100).event(), event(1, 200).event())),
            new Commit(2, List.of(event(2, 100).event())),
            new Commit(3, List.of(event(3, 100).event()))));
    runAll(world.toStream);
    assertThat(world.responses).containsExactly("1 1 2 3 at 3");
  }

  /** A client that accepts each revision alone must accept all responses. */
  @Test
  void revisionsShareResponseOnlyIfTheyFitAndAreNeverSplit_W6() {
    World world = worldWithWatcher(10 << 20);
    List<SharedEvent> events = new ArrayList<>();
    events.add(event(1, 100));
    for (int i = 0; i < 5; i++) {
      events.add(event(2, 30_000));
    }
    events.add(event(3, 30_000));
    events.add(event(4, 30_000));
    events.add(event(5, 30_000));
    events.add(event(6, 100));
    world.stream.deliver(6, List.of(new Delivery(1, SharedEvents.ofOne(events))));
    assertThat(world.responses).containsExactly("1 at 1", "2 2 2 2 2 at 2", "3 4 at 4", "5 6 at 6");
  }

  @Test
  void revisionsBeforePositionOfWatcherAreNotRepeated_W6() {
    World world = worldWithWatcher(10 << 20);
    world.stream.deliver(2, List.of(delivery(event(1, 10), event(2, 10))));
    world.stream.deliver(3, List.of(delivery(event(2, 10), event(3, 10))));
    world.stream.deliver(3, List.of(delivery(event(3, 10))));
    assertThat(world.responses).containsExactly("1 2 at 2", "3 at 3");
  }

  @Test
  void everyWatcherGetsEachEventOnceAndInOrder_W3_W6_W8() {
    int returns = 0;
    for (long seed = 1; seed <= 300; seed++) {
      World world = new World(seed);
      for (int i = 0; i < 400; i++) {
        switch (world.random.nextInt(8)) {
          case 0, 1 -> world.commit();
          case 2 -> {
            if (world.ids < 6) {
              world.create();
            }
          }
          case 3 -> world.toStream.add(world.stream::progressTick);
          default -> world.step();
        }
      }
      world.publish();
      for (int i = 0; !world.isQuiet(); i++) {
        assertThat(i).as("steps until quiet, seed=%d", seed).isLessThan(100_000);
        world.step();
      }
      for (long id : world.watchers.keySet()) {
        assertThat(world.received.get(id))
            .as("seed=%d watcher=%d", seed, id)
            .isEqualTo(world.expected(id, world.revision()));
      }
      returns += world.returns;
    }
    assertThat(returns).as("slow clients returned to history").isGreaterThan(100);
  }
}
