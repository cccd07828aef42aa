package io.troupe.tests.faults;

import io.etcd.jetcd.api.HashKVResponse;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.StatusRuntimeException;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.Result;
import io.troupe.simulation.check.HistoryChecks;
import io.troupe.simulation.check.LinearizabilityCheck;
import io.troupe.simulation.check.WatchCheck;
import io.troupe.simulation.client.Requests;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.History;
import io.troupe.simulation.history.Request;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.history.WatchReply;
import io.troupe.watch.EventFilter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.awaitility.Awaitility;

/**
 * One cluster under load and faults, and all checks that follow. The seed fixes the requests of
 * clients and the faults with their times, not the interleaving of processes and threads.
 */
final class ClusterCampaign {
  private static final int CLIENTS = 8;
  private static final int OWNERS = 3;
  private static final Duration TIMEOUT = Duration.ofSeconds(90);

  /** Completed calls that make a history worth checking. */
  private static final int ENOUGH = 500;

  /** The content of a round. */
  record Figures(
      long seed,
      int members,
      long seconds,
      int answered,
      int refused,
      int unknown,
      long revision,
      long terms,
      long watchEvents,
      long streams,
      int renewals,
      int leasesGone,
      int snapshotsReceived,
      int compactions,
      int watchersCompacted,
      Map<Fault, Integer> faults,
      long recoveryMs,
      LinearizabilityCheck.Verdict verdict) {}

  private final long seed;
  private final int members;
  private final Path directory;
  private final ClusterHistory history = new ClusterHistory();
  private final List<HistoryWatcher> watchers = new ArrayList<>();
  private final List<HistoryRecorder> historians = new ArrayList<>();

  ClusterCampaign(Path directory, long seed, int members) {
    this.directory = directory;
    this.seed = seed;
    this.members = members;
  }

  /** The faults of a cluster while clients send calls; no fault remains on return. */
  interface Script {
    /** Runs it. */
    void run(TestCluster cluster, ClusterHistory history) throws Exception;
  }

  /** Injects faults for that many seconds as the seed draws them; then checks everything. */
  Figures run(long seconds) throws Exception {
    Map<Integer, LoopDisk> disks = new TreeMap<>();
    try {
      Map<Integer, Path> data = new TreeMap<>();
      for (int member = 1; member <= members; member++) {
        Path place = Files.createDirectories(directory.resolve("disk" + member));
        LoopDisk disk = new LoopDisk(place);
        disks.put(member, disk);
        data.put(member, disk.data());
      }
      return run(seconds, disks, data);
    } finally {
      disks.values().forEach(LoopDisk::close);
    }
  }

  private Figures run(long seconds, Map<Integer, LoopDisk> disks, Map<Integer, Path> data)
      throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    TestCluster cluster =
        new TestCluster(directory, members, members, random.split(), Map.of(), data);
    SplittableRandom own = random.split();
    Map<Fault, Integer> counts = new EnumMap<>(Fault.class);
    Script script =
        (where, told) -> {
          CampaignFaults faults = new CampaignFaults(where, disks, told, own);
          try {
            faults.run(seconds);
          } finally {
            Files.write(directory.resolve("faults.txt"), faults.log());
            counts.putAll(faults.counts());
          }
        };
    return run(cluster, script, random, counts);
  }

  /**
   * Runs a script on a cluster, which this method starts and closes, and checks everything.
   *
   * @param cluster not started yet
   */
  Figures run(TestCluster cluster, Script script) throws Exception {
    return run(cluster, script, new SplittableRandom(seed), Map.of());
  }

  private Figures run(
      TestCluster cluster, Script script, SplittableRandom random, Map<Fault, Integer> faults)
      throws Exception {
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
    try (cluster) {
      try {
        return underLoad(cluster.startFirst(), script, random, timer, faults);
      } catch (Throwable e) {
        watchers.forEach(HistoryWatcher::close);
        historians.forEach(HistoryRecorder::close);
        history.write(directory.resolve("history.txt"));
        throw e;
      }
    } finally {
      timer.shutdownNow();
    }
  }

  private Figures underLoad(
      TestCluster cluster,
      Script script,
      SplittableRandom random,
      ScheduledExecutorService timer,
      Map<Fault, Integer> faults)
      throws Exception {
    CampaignLoad load = new CampaignLoad(cluster, history, 5_000L + random.nextInt(40_000));
    HistoryRecorder historian =
        new HistoryRecorder(cluster, cluster.members(), 1, random.split(), timer);
    historians.add(historian);
    for (WatchRecord.Asked asked : asked()) {
      watchers.add(
          new HistoryWatcher(cluster, history, cluster.members(), asked, random.split(), timer));
    }
    load.start(CLIENTS, OWNERS, historian::told, random.split());
    long began = System.nanoTime();
    script.run(cluster, history);
    requireNone("members ended by themselves", cluster.endedByThemselves());
    long healed = System.nanoTime();
    awaitService(cluster, random.split());
    long recoveryMs = (System.nanoTime() - healed) / 1_000_000;
    awaitEnough(load);
    load.stop();
    requireNone("clients", load.failures());
    awaitLeasesOver(cluster);
    long revision = awaitEqual(cluster);
    SortedMap<Long, List<Event>> committed = events(historian, revision);
    requireEqualHistories(cluster, committed, revision, random, timer);
    awaitWatchers(revision);
    requireNone("members ended by themselves", cluster.endedByThemselves());
    return check(
        cluster, faults, committed, revision, (healed - began) / 1_000_000_000, recoveryMs);
  }

  private static List<WatchRecord.Asked> asked() {
    KeyRange all = KeyRange.all();
    KeyRange some = new KeyRange(Requests.key(2), Requests.key(6));
    return List.of(
        new WatchRecord.Asked(all, 1, EventFilter.NONE, true, false, false),
        new WatchRecord.Asked(all, 0, EventFilter.NONE, false, false, true),
        new WatchRecord.Asked(
            KeyRange.single(Requests.key(3)), 0, EventFilter.NONE, true, false, false),
        new WatchRecord.Asked(some, 1, new EventFilter(false, true), true, false, true));
  }

  /** After the faults each member accepts a write. */
  private void awaitService(TestCluster cluster, SplittableRandom random) {
    Requests requests = new Requests(random.split(), "probe");
    HistoryClient client = new HistoryClient(cluster, history, random.split());
    for (int member : cluster.members()) {
      Awaitility.await("member " + member + " serves after the faults")
          .atMost(TIMEOUT)
          .pollInterval(Duration.ofMillis(100))
          .until(
              () -> {
                cluster.startWhatDisksEnded();
                requireNone("members ended by themselves", cluster.endedByThemselves());
                client.goTo(member);
                return client.call(new Request.Write(requests.put(0)), 3000) instanceof Answer.Done;
              });
    }
  }

  /**
   * On a slow machine clients complete few calls during the faults: they continue until the history
   * is large enough.
   */
  private void awaitEnough(CampaignLoad load) {
    Awaitility.await("clients have " + ENOUGH + " answers")
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> history.answered() >= ENOUGH || !load.failures().isEmpty());
  }

  private static void awaitLeasesOver(TestCluster cluster) {
    Awaitility.await("unrenewed leases expire")
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
        .until(() -> cluster.calls(cluster.awaitLeader()).leases().getLeasesCount() == 0);
  }

  /**
   * Checks that all members have applied the same revision with the same content; returns that
   * revision.
   */
  private static long awaitEqual(TestCluster cluster) {
    List<HashKVResponse> answers = new ArrayList<>();
    Awaitility.await("all members equal")
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
        .until(
            () -> {
              answers.clear();
              for (int member : cluster.members()) {
                answers.add(cluster.calls(member).hashKv(0));
              }
              // A compaction creates no revision.
              return answers.stream()
                      .map(each -> each.getHeader().getRevision() + "/" + each.getCompactRevision())
                      .distinct()
                      .count()
                  == 1;
            });
    if (answers.stream().map(HashKVResponse::getHash).distinct().count() != 1) {
      throw new AssertionError("members differ: " + answers);
    }
    return answers.get(0).getHeader().getRevision();
  }

  /** The revision that a recorder has reached. */
  private static SortedMap<Long, List<Event>> events(HistoryRecorder historian, long revision) {
    try (historian) {
      Awaitility.await("all events are recorded")
          .atMost(TIMEOUT)
          .until(() -> historian.told() >= revision || !historian.complaints().isEmpty());
    }
    requireNone("historian", historian.complaints());
    return historian.events();
  }

  /** For uncompacted revisions each member returns the recorded events. */
  private void requireEqualHistories(
      TestCluster cluster,
      SortedMap<Long, List<Event>> committed,
      long revision,
      SplittableRandom random,
      ScheduledExecutorService timer) {
    long from = HistoryChecks.maxCompaction(history.calls()) + 1;
    for (int member : cluster.members()) {
      HistoryRecorder reader =
          new HistoryRecorder(cluster, Set.of(member), from, random.split(), timer);
      historians.add(reader);
      if (!events(reader, revision).equals(committed.tailMap(from))) {
        throw new AssertionError("member " + member + " returns another history");
      }
    }
  }

  private void awaitWatchers(long revision) {
    for (HistoryWatcher watcher : watchers) {
      Awaitility.await("a watcher has received everything")
          .atMost(TIMEOUT)
          .until(() -> watcher.next() > revision || !watcher.complaints().isEmpty());
      requireNone("watcher", watcher.complaints());
    }
    watchers.forEach(HistoryWatcher::close);
  }

  private Figures check(
      TestCluster cluster,
      Map<Fault, Integer> faults,
      SortedMap<Long, List<Event>> committed,
      long revision,
      long seconds,
      long recoveryMs) {
    History told = history.toHistory(committed);
    WatchCheck watches = new WatchCheck(committed, HistoryChecks.maxCompaction(history.calls()));
    LinearizabilityCheck.Verdict verdict = HistoryChecks.check(told);
    for (HistoryWatcher watcher : watchers) {
      WatchRecord record = watcher.record();
      if (record != null) {
        watches.checkComplete(record, revision);
      }
    }
    long terms = 0;
    int received = 0;
    for (int member : cluster.members()) {
      StatusResponse status = cluster.status(member);
      terms = Math.max(terms, status == null ? 0 : status.getRaftTerm());
      received += cluster.count(member, "received snapshot");
    }
    List<Call> calls = told.calls();
    return new Figures(
        seed,
        members,
        seconds,
        (int) calls.stream().filter(c -> c.answer() instanceof Answer.Done).count(),
        (int) calls.stream().filter(c -> c.answer() instanceof Answer.Refused).count(),
        (int) calls.stream().filter(Call::isUnknown).count(),
        revision,
        terms,
        told.watches().stream()
            .flatMap(w -> w.replies().stream())
            .mapToLong(r -> r instanceof WatchReply.Events e ? e.events().size() : 0)
            .sum(),
        watchers.stream().mapToLong(HistoryWatcher::streams).sum(),
        (int)
            calls.stream()
                .filter(c -> c.request() instanceof Request.KeepAlive)
                .filter(c -> c.answer() instanceof Answer.Renewed r && r.ttlSeconds() > 0)
                .count(),
        told.leaseEnds().size(),
        received,
        (int) calls.stream().filter(ClusterCampaign::isCompaction).count(),
        (int) told.watches().stream().filter(WatchRecord::isCanceled).count(),
        Map.copyOf(faults),
        recoveryMs,
        verdict);
  }

  private static boolean isCompaction(Call call) {
    return call.answer() instanceof Answer.Done done && done.result() instanceof Result.Compact;
  }

  private static void requireNone(String what, List<?> found) {
    if (!found.isEmpty()) {
      AssertionError error = new AssertionError(what + ": " + found);
      found.stream()
          .filter(Throwable.class::isInstance)
          .forEach(each -> error.addSuppressed((Throwable) each));
      throw error;
    }
  }
}
