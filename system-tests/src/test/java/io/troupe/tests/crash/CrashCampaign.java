package io.troupe.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Rounds of load and kills on one data directory. Each round begins with a start and a full
 * comparison of the member's content with the records of its clients.
 */
final class CrashCampaign {
  /** Small enough for snapshots, new segments and deleted segments in every round. */
  static final Map<String, String> SETTINGS =
      Map.of(
          "snapshot-count", "500",
          "snapshot-min-interval", "200ms",
          "wal-segment-size", "1MiB",
          "store.write-buffer-bytes", "4MiB",
          "initial-cluster-token", "crash-campaign");

  /** JVM options of campaign members: many starts, so start-up speed counts. */
  static final String[] QUICK_START = {"-XX:TieredStopAtLevel=1"};

  private static final int WRITES_PER_ROUND = 1500;
  private static final String FROM = "k";
  private static final String END = "l";

  /** Figures of one round, for the record. */
  record Figures(
      int round,
      int jdk,
      Ending ending,
      long loadMs,
      int acknowledged,
      int unknown,
      long unknownHappened,
      int snapshots,
      long newSegments,
      long oldestSegment,
      long restartMs,
      String replayed,
      long revision) {}

  private final Path directory;
  private final Path data;
  private final List<Jdk> jdks;
  private final Random random;
  private final Journal journal = new Journal();
  private final HistoryCheck check = new HistoryCheck(journal, 1);
  private final Load load;
  private final RecordedWatch all;
  private final RecordedWatch one;
  private final RecordedWatch puts;
  private final List<Figures> figures = new ArrayList<>();
  private int starts;

  CrashCampaign(Path directory, List<Jdk> jdks, long seed) {
    this.directory = directory;
    this.data = directory.resolve("data");
    this.jdks = jdks;
    this.random = new Random(seed);
    this.load = new Load(journal, seed);
    WatchCreateRequest.Builder everything = RecordedWatch.over(FROM, END);
    this.all = new RecordedWatch("watch", everything.setPrevKv(true).build(), 1);
    this.one =
        new RecordedWatch("watch of k3", RecordedWatch.over("k3", "k4").setPrevKv(true).build(), 1);
    this.puts =
        new RecordedWatch(
            "watch of puts",
            RecordedWatch.over(FROM, END)
                .setPrevKv(true)
                .addFilters(WatchCreateRequest.FilterType.NODELETE)
                .build(),
            1);
  }

  List<Figures> figures() {
    return figures;
  }

  HistoryCheck check() {
    return check;
  }

  /** Runs that many rounds; fails at the first violation. */
  void run(int rounds) throws Exception {
    NodeProcess member = start().awaitReady();
    try {
      for (int round = 0; round < rounds; round++) {
        Ending ending = Ending.of(round);
        int jdk = jdkOf(starts - 1).major();
        long segmentsBefore = segments().newest();
        int before = snapshots(member);
        long loadMs = 100L + random.nextInt(2400);
        NodeProcess running = member;
        underLoad(running, round, loadMs, ending);
        int snapshots = snapshots(running) - before;
        Segments segments = segments();
        List<Write> writes = journal.take();
        long happenedBefore = check.unknownThatHappened();
        long startedNanos = System.nanoTime();
        member = startAfter(ending);
        long restartMs = (System.nanoTime() - startedNanos) / 1_000_000;
        try (EtcdClient client = new EtcdClient(member.port())) {
          verify(client, round, writes);
        }
        figures.add(
            new Figures(
                round,
                jdk,
                ending,
                loadMs,
                count(writes, Write.Outcome.ACKNOWLEDGED),
                count(writes, Write.Outcome.UNKNOWN),
                check.unknownThatHappened() - happenedBefore,
                snapshots,
                segments.newest() - segmentsBefore,
                segments.oldest(),
                restartMs,
                replayed(member),
                check.checked()));
        System.out.println(figures.get(figures.size() - 1));
      }
    } finally {
      member.close();
    }
  }

  private void underLoad(NodeProcess member, int round, long loadMs, Ending ending)
      throws Exception {
    try (EtcdClient client = new EtcdClient(member.port(), EtcdClient.SHORT_DEADLINE);
        EtcdClient watching = new EtcdClient(member.port(), EtcdClient.SHORT_DEADLINE)) {
      for (RecordedWatch watch : List.of(all, one, puts)) {
        watch.connect(watching);
      }
      Load.Round work = load.start(client, round, member::isAlive, all::last);
      if (round % 5 == 1) {
        // The clients have no response within their deadline, and continue.
        work.awaitAcknowledged(WRITES_PER_ROUND / 3);
        member.pause();
        Pause.millis(EtcdClient.SHORT_DEADLINE.toMillis() + 1000);
        member.resume();
      }
      if (round % 5 != 4) {
        // Enough writes for snapshots and new segments; every fifth round may stop before either.
        work.awaitAcknowledged(WRITES_PER_ROUND);
      }
      Pause.millis(loadMs);
      if (ending == Ending.TERMINATE) {
        assertThat(member.stop()).as("exit code after SIGTERM").isEqualTo(143);
      } else {
        assertThat(member.isAlive()).as("still running\n%s", member.err()).isTrue();
        member.kill();
      }
      work.finish();
    }
  }

  private NodeProcess startAfter(Ending ending) throws Exception {
    boolean restores = false;
    if (ending == Ending.KILL_AND_LOSE_STATE) {
      emptyDirectory(data.resolve("state"));
      restores = hasSnapshot();
    }
    if (ending == Ending.KILL_TWICE) {
      try (NodeProcess recovering = start()) {
        Pause.millis(500 + random.nextInt(2500));
        recovering.kill();
      }
    }
    NodeProcess member = start().awaitReady();
    if (restores) {
      assertThat(member.err()).contains("restoring the newest snapshot");
    }
    return member;
  }

  /** In turn, shifted by one every six starts, so that each ending meets each JDK. */
  private Jdk jdkOf(int start) {
    return jdks.get((start + start / 6) % jdks.size());
  }

  private NodeProcess start() {
    Jdk jdk = jdkOf(starts);
    starts++;
    return NodeProcess.member(jdk, directory, QUICK_START)
        .named("member-" + starts)
        .settings(SETTINGS)
        .start();
  }

  private void verify(EtcdClient client, int round, List<Write> writes) throws IOException {
    long seenBefore = Math.max(journal.acknowledged(), all.last());
    RangeResponse found = client.range(FROM, END, 0);
    assertThat(found.getHeader().getRevision())
        .as("revision after the restart")
        .isGreaterThanOrEqualTo(seenBefore);
    for (RecordedWatch watch : List.of(all, one, puts)) {
      watch.connect(client);
    }
    // One write to every key brings every watch to the same revision. The guard key of the first
    // may be missing, that of the second exists.
    String id = "mark" + round;
    load.applyUntilAcknowledged(client, id, CrashCampaign::everywhere);
    long now = load.applyUntilAcknowledged(client, "again" + id, CrashCampaign::everywhere);
    List<Write> own = new ArrayList<>(writes);
    own.addAll(journal.take());
    all.awaitRevision(now);
    one.awaitRevision(now);
    puts.awaitRevision(now);
    compareHistory(client, own, now);
    compareState(client, now);
    compareLeases(client);
    for (RecordedWatch watch : List.of(all, one, puts)) {
      watch.forgetThrough(now);
    }
  }

  /** Writes every key if k3 exists, and otherwise k3. */
  private static Write.Txn everywhere(String id) {
    List<Write.Put> everywhere = new ArrayList<>();
    for (int i = 0; i < Load.KEYS; i++) {
      everywhere.add(new Write.Put(Load.key(i), Load.value(id), 0));
    }
    return new Write.Txn("k3", everywhere, null, new Write.Put("k3", Load.value(id), 0));
  }

  private void compareHistory(EtcdClient client, List<Write> writes, long now) {
    long from = check.checked();
    NavigableMap<Long, List<RecordedWatch.Seen>> events = all.between(from, now);
    check.check(events, writes, now);
    List<String> complaints = new ArrayList<>(check.complaints());
    complaints.addAll(all.complaints());
    complaints.addAll(one.complaints());
    complaints.addAll(puts.complaints());
    assertThat(complaints).isEmpty();
    assertThat(one.between(from, now))
        .as("the watch of one key")
        .isEqualTo(filtered(events, seen -> seen.change().key().equals("k3")));
    assertThat(puts.between(from, now))
        .as("the watch of puts")
        .isEqualTo(filtered(events, seen -> seen.change().version() != null));
    // The events before the kill are the history: a new watch returns the same.
    long readable = Math.max(from, journal.compactionAsked() + 1);
    RecordedWatch again =
        new RecordedWatch(
            "fresh watch", RecordedWatch.over(FROM, END).setPrevKv(true).build(), readable);
    again.connect(client);
    again.awaitRevision(now);
    assertThat(again.complaints()).isEmpty();
    assertThat(again.between(readable, now)).isEqualTo(all.between(readable, now));
  }

  private static NavigableMap<Long, List<RecordedWatch.Seen>> filtered(
      NavigableMap<Long, List<RecordedWatch.Seen>> events, Predicate<RecordedWatch.Seen> wanted) {
    NavigableMap<Long, List<RecordedWatch.Seen>> kept = new TreeMap<>();
    events.forEach(
        (revision, seen) -> {
          List<RecordedWatch.Seen> some = seen.stream().filter(wanted).toList();
          if (!some.isEmpty()) {
            kept.put(revision, some);
          }
        });
    return kept;
  }

  private void compareState(EtcdClient client, long now) {
    assertThat(stateAt(client, now)).as("state at %s", now).isEqualTo(check.state());
    check
        .samples()
        .forEach(
            (revision, state) -> {
              if (revision >= journal.compactionAsked()) {
                assertThat(stateAt(client, revision)).as("state at %s", revision).isEqualTo(state);
              }
            });
    if (journal.compacted() > 1) {
      assertThat(refusal(() -> client.range(FROM, END, journal.compacted() - 1)))
          .as("a read below the compacted revision %s", journal.compacted())
          .contains("required revision has been compacted");
    }
  }

  private static String refusal(Runnable read) {
    try {
      read.run();
      return "no refusal";
    } catch (StatusRuntimeException e) {
      Status status = e.getStatus();
      return status.getCode() + " " + status.getDescription();
    }
  }

  private static NavigableMap<String, Write.Version> stateAt(EtcdClient client, long revision) {
    NavigableMap<String, Write.Version> state = new TreeMap<>();
    for (KeyValue kv : client.range(FROM, END, revision).getKvsList()) {
      state.put(kv.getKey().toStringUtf8(), RecordedWatch.version(kv));
    }
    return state;
  }

  private void compareLeases(EtcdClient client) {
    journal
        .livingLeases()
        .forEach(
            (lease, ttl) -> {
              var found = client.timeToLive(lease);
              assertThat(found.getGrantedTTL())
                  .as("lease %s", Long.toHexString(lease))
                  .isEqualTo(ttl);
              assertThat(
                      found.getKeysList().stream()
                          .map(key -> key.toStringUtf8())
                          .collect(Collectors.toSet()))
                  .as("keys of lease %s", Long.toHexString(lease))
                  .isEqualTo(
                      check.state().entrySet().stream()
                          .filter(entry -> entry.getValue().lease() == lease)
                          .map(Map.Entry::getKey)
                          .collect(Collectors.toSet()));
            });
  }

  private boolean hasSnapshot() throws IOException {
    try (Stream<Path> found = Files.list(data.resolve("snapshots"))) {
      return found.anyMatch(path -> path.toString().endsWith(".manifest"));
    }
  }

  private record Segments(long oldest, long newest) {}

  private Segments segments() throws IOException {
    try (Stream<Path> names = Files.list(data.resolve("wal"))) {
      List<Long> numbers =
          names
              .map(path -> Long.parseLong(path.getFileName().toString().substring(0, 16), 16))
              .sorted()
              .toList();
      return new Segments(numbers.get(0), numbers.get(numbers.size() - 1));
    }
  }

  private static int snapshots(NodeProcess member) {
    return member.err().split("saved snapshot", -1).length - 1;
  }

  private static String replayed(NodeProcess member) {
    String output = member.err();
    int at = output.indexOf("log-entries=");
    return at < 0 ? "?" : output.substring(at + 12).replaceAll("(?s)\\D.*", "");
  }

  private static int count(List<Write> writes, Write.Outcome outcome) {
    return (int) writes.stream().filter(write -> write.outcome == outcome).count();
  }

  static void emptyDirectory(Path directory) throws IOException {
    try (Stream<Path> found = Files.walk(directory)) {
      for (Path path : found.sorted(Comparator.reverseOrder()).toList()) {
        if (!path.equals(directory)) {
          Files.delete(path);
        }
      }
    }
  }
}
