package io.troupe.tests.faults;

import io.etcd.jetcd.api.StatusResponse;
import io.grpc.StatusRuntimeException;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A cluster of real processes that are connected by a {@link PeerNetwork}. Members have numbers
 * from 1 on; JDKs alternate. Thread-safe.
 */
final class TestCluster implements AutoCloseable {
  /** Small segments and many snapshots, so that lagging members receive one. */
  static final Map<String, String> SETTINGS =
      Map.of(
          "snapshot-count", "500",
          "snapshot-min-interval", "1s",
          "wal-segment-size", "1MiB",
          "store.write-buffer-bytes", "4MiB",
          "store.block-cache-bytes", "8MiB",
          "initial-cluster-token", "cluster-campaign");

  /** Exit status of a member whose disk failed or is full. */
  private static final int DISK_FAILURE = 5;

  private static final long DISK_ECHO_NANOS = 20_000_000_000L;
  private static final long STATUS_MS = 500;

  private static final class Slot {
    final NodeProcess.Builder made;
    final Path data;
    final MemberCalls calls;
    @Nullable NodeProcess process;
    final List<NodeProcess> all = new ArrayList<>();
    int runs;
    boolean wanted;
    boolean paused;
    boolean diskFull;
    long diskFullAtNanos;

    Slot(NodeProcess.Builder made, Path data, MemberCalls calls) {
      this.made = made;
      this.data = data;
      this.calls = calls;
    }
  }

  private final int first;
  private final PeerNetwork network;
  private final Map<Integer, Slot> slots = new LinkedHashMap<>();

  /**
   * Prepares a cluster; starts nothing.
   *
   * @param first how many begin the cluster
   * @param size how many there may be in the end
   * @param settings for all members, besides the usual ones
   * @param data data directory of members that shall not have the usual one
   */
  TestCluster(
      Path directory,
      int first,
      int size,
      SplittableRandom random,
      Map<String, String> settings,
      Map<Integer, Path> data)
      throws IOException {
    this.first = first;
    List<Integer> ports = IntStream.rangeClosed(1, size).mapToObj(n -> FreePort.next()).toList();
    network = new PeerNetwork(ports, random);
    String initial = initial(IntStream.rangeClosed(1, first).boxed().collect(Collectors.toSet()));
    List<Jdk> jdks = TestJdks.all();
    for (int member = 1; member <= size; member++) {
      Path own = directory.resolve("m" + member);
      Files.createDirectories(own);
      Path hosts = own.resolve("hosts");
      network.writeHosts(member, hosts);
      Path where = data.getOrDefault(member, own.resolve("data"));
      int client = FreePort.next();
      Map<String, String> all = new HashMap<>(SETTINGS);
      all.putAll(settings);
      NodeProcess.Builder made =
          NodeProcess.member(
                  jdks.get(member % jdks.size()),
                  own,
                  "-XX:TieredStopAtLevel=1",
                  "-XX:-UsePerfData",
                  "-Djdk.net.hosts.file=" + hosts)
              .named("m" + member)
              .settings(all)
              .setting("name", "m" + member)
              .setting("data-dir", where.toString())
              .setting("listen-client-urls", "http://127.0.0.1:" + client)
              .setting("listen-peer-urls", "http://127.0.0.1:" + ports.get(member - 1))
              .setting("initial-advertise-peer-urls", network.url(member))
              .setting("initial-cluster", initial);
      slots.put(member, new Slot(made, where, new MemberCalls("127.0.0.1:" + client)));
    }
  }

  /** A cluster of new members with the usual settings. */
  static TestCluster of(Path directory, int size, SplittableRandom random) throws IOException {
    return new TestCluster(directory, size, size, random, Map.of(), Map.of());
  }

  PeerNetwork network() {
    return network;
  }

  /** The maximum number of members. */
  int size() {
    return slots.size();
  }

  /** All numbers that were started and not removed. */
  synchronized Set<Integer> members() {
    return slots.entrySet().stream()
        .filter(each -> each.getValue().runs > 0)
        .map(Map.Entry::getKey)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** All members except these. */
  Set<Integer> without(Set<Integer> some) {
    Set<Integer> others = members();
    others.removeAll(some);
    return others;
  }

  /** The connection for clients. */
  MemberCalls calls(int member) {
    return slot(member).calls;
  }

  private synchronized Slot slot(int member) {
    Slot slot = slots.get(member);
    if (slot == null) {
      throw new IllegalArgumentException("no member " + member);
    }
    return slot;
  }

  /** Starts all first members and waits until each of them serves. */
  TestCluster startFirst() {
    IntStream.rangeClosed(1, first).forEach(member -> start(member));
    IntStream.rangeClosed(1, first).forEach(this::awaitReady);
    return this;
  }

  /** Starts a stopped member; does not wait. */
  synchronized void start(int member, String... more) {
    Slot slot = slot(member);
    NodeProcess before = slot.process;
    if (before != null && before.isAlive()) {
      throw new IllegalStateException("runs already: " + member);
    }
    if (more.length > 0) {
      slot.made.args(more);
    }
    NodeProcess started = slot.made.start();
    slot.process = started;
    slot.all.add(started);
    slot.runs++;
    slot.wanted = true;
    slot.paused = false;
  }

  /** Starts a member that was added before; does not wait. */
  void join(int member) {
    Set<Integer> all = members();
    all.add(member);
    start(
        member,
        "-Dtroupe.initial-cluster=" + initial(all),
        "-Dtroupe.initial-cluster-state=existing");
  }

  private String initial(Set<Integer> members) {
    return members.stream()
        .map(n -> "m" + n + "=" + network.url(n))
        .collect(Collectors.joining(","));
  }

  void awaitReady(int member) {
    process(member).awaitReady();
  }

  NodeProcess process(int member) {
    synchronized (this) {
      NodeProcess process = slot(member).process;
      if (process != null) {
        return process;
      }
    }
    throw new IllegalStateException("never started: " + member);
  }

  /** The run and the member that respond now. */
  synchronized long session(int member) {
    return member * 1_000_000L + slot(member).runs;
  }

  /** Kills with SIGKILL. */
  void kill(int member) {
    synchronized (this) {
      slot(member).wanted = false;
      slot(member).paused = false;
    }
    process(member).kill();
  }

  /** Stops with SIGTERM and waits for the end. */
  void terminate(int member) {
    synchronized (this) {
      slot(member).wanted = false;
    }
    process(member).stop();
  }

  synchronized boolean isUp(int member) {
    NodeProcess process = slot(member).process;
    return process != null && slot(member).wanted && process.isAlive() && !slot(member).paused;
  }

  /** Pauses the process (SIGSTOP). */
  void pause(int member) {
    synchronized (this) {
      slot(member).paused = true;
    }
    process(member).pause();
  }

  /** Resumes the process (SIGCONT). */
  void resume(int member) {
    process(member).resume();
    synchronized (this) {
      slot(member).paused = false;
    }
  }

  /** The member may exit because of the full disk from now on. */
  synchronized void diskIsFull(int member) {
    slot(member).diskFull = true;
    slot(member).diskFullAtNanos = System.nanoTime();
  }

  /** A member that met the full disk may still exit a moment later. */
  synchronized void diskHasSpace(int member) {
    slot(member).diskFull = false;
    slot(member).diskFullAtNanos = System.nanoTime();
  }

  /**
   * Acts as a supervisor: a member that exited because of a full disk is restarted when the disk
   * has space.
   */
  synchronized void startWhatDisksEnded() {
    slots.forEach(
        (member, slot) -> {
          NodeProcess process = slot.process;
          if (process != null
              && slot.wanted
              && !slot.diskFull
              && !process.isAlive()
              && endedByDisk(slot, process)) {
            start(member);
          }
        });
  }

  private static boolean endedByDisk(Slot slot, NodeProcess process) {
    boolean lately =
        slot.diskFullAtNanos != 0 && System.nanoTime() - slot.diskFullAtNanos < DISK_ECHO_NANOS;
    return (slot.diskFull || lately) && process.awaitExit() == DISK_FAILURE;
  }

  /** Names of members that exited unexpectedly, with the ends of their logs. */
  synchronized List<String> endedByThemselves() {
    List<String> ended = new ArrayList<>();
    slots.forEach(
        (member, slot) -> {
          NodeProcess process = slot.process;
          if (process != null && slot.wanted && !process.isAlive() && !endedByDisk(slot, process)) {
            List<String> log = process.err().lines().toList();
            ended.add(
                "m"
                    + member
                    + " exit="
                    + process.awaitExit()
                    + " "
                    + String.join("\n", log.subList(Math.max(0, log.size() - 30), log.size())));
          }
        });
    return ended;
  }

  /** The status of a member; null if it does not respond. */
  @Nullable StatusResponse status(int member) {
    if (!isUp(member)) {
      return null;
    }
    try {
      return calls(member).status(STATUS_MS);
    } catch (StatusRuntimeException e) {
      return null;
    }
  }

  /** The leader of the greatest term in the status of the members; 0 if there is none. */
  int leader() {
    int leader = 0;
    long term = 0;
    for (int member : members()) {
      StatusResponse status = status(member);
      if (status != null
          && status.getLeader() == status.getHeader().getMemberId()
          && status.getRaftTerm() > term) {
        leader = member;
        term = status.getRaftTerm();
      }
    }
    return leader;
  }

  /** Waits for a leader. */
  int awaitLeader() {
    return Awaitility.await("a leader")
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(50))
        .until(this::leader, found -> found != 0);
  }

  /** Waits for a leader among these members. */
  int awaitLeaderAmong(Set<Integer> members, Duration timeout) {
    return Awaitility.await("a leader among " + members)
        .atMost(timeout)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              for (int member : members) {
                StatusResponse status = status(member);
                if (status != null && status.getLeader() == status.getHeader().getMemberId()) {
                  return member;
                }
              }
              return 0;
            },
            found -> found != 0);
  }

  Path data(int member) {
    return slot(member).data;
  }

  /** The number of log lines with that text, over all runs. */
  int count(int member, String text) {
    List<NodeProcess> all;
    synchronized (this) {
      all = List.copyOf(slot(member).all);
    }
    return (int)
        all.stream().flatMap(each -> each.err().lines()).filter(l -> l.contains(text)).count();
  }

  @Override
  public void close() throws IOException {
    for (Slot slot : slots.values()) {
      NodeProcess process = slot.process;
      if (process != null) {
        process.close();
      }
      slot.calls.close();
    }
    network.close();
  }
}
