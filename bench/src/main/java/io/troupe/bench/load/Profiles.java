package io.troupe.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.report.Cell;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** The profiles by name. bench/README.md describes them. */
public final class Profiles {
  private static final int SPAN = 100;
  private static final int WRITE_PERCENT = 10;
  private static final int FILL_CLIENTS = 100;
  private static final long CALL_TIMEOUT_MS = 60_000;

  /** Measures one profile at all loads of the settings. */
  private interface Profile {
    void run(Target target, Consumer<Cell> results);
  }

  private static final Map<String, Profile> ALL = new LinkedHashMap<>();

  static {
    ALL.put("put", (t, out) -> each(t, out, "put", clients -> puts(t)));
    ALL.put("range", (t, out) -> each(t, out, "range", clients -> reads(t, false)));
    ALL.put(
        "range-serializable",
        (t, out) -> each(t, out, "range-serializable", clients -> reads(t, true)));
    ALL.put("range-100", (t, out) -> each(t, out, "range-100", clients -> ranges(t)));
    ALL.put("txn", (t, out) -> each(t, out, "txn", clients -> txns(t, clients)));
    ALL.put("mix", (t, out) -> each(t, out, "mix", clients -> mix(t)));
    ALL.put(
        "watch",
        (t, out) -> t.settings().watchers().forEach(n -> out.accept(WatchFanOut.measure(t, n))));
    ALL.put(
        "lease-keep-alive",
        (t, out) -> t.settings().clients().forEach(n -> out.accept(KeepAlives.measure(t, n))));
    ALL.put(
        KubernetesProfile.NAME,
        (t, out) ->
            t.settings().clients().forEach(n -> KubernetesProfile.measure(t, n).forEach(out)));
    ALL.put("long-read", (t, out) -> StallProfiles.longRead(t).forEach(out));
    ALL.put("compaction", (t, out) -> StallProfiles.compaction(t).forEach(out));
    ALL.put("snapshot-save", (t, out) -> StallProfiles.snapshotSave(t).forEach(out));
    ALL.put("hash", (t, out) -> StallProfiles.hash(t).forEach(out));
    ALL.put("history", (t, out) -> StallProfiles.history(t).forEach(out));
    ALL.put(LeaseExpiry.NAME, (t, out) -> LeaseExpiry.measure(t).forEach(out));
    ALL.put(IdleMemory.NAME, (t, out) -> IdleMemory.measure(t).forEach(out));
  }

  private Profiles() {}

  /** All names, in the order in which they run. */
  public static Set<String> names() {
    return java.util.Collections.unmodifiableSet(ALL.keySet());
  }

  /**
   * Runs one profile.
   *
   * @param results receives each measurement when it completes
   * @throws IllegalArgumentException if there is no such profile
   */
  public static void run(String name, Target target, Consumer<Cell> results) {
    Profile profile = ALL.get(name);
    if (profile == null) {
      throw new IllegalArgumentException(
          "unknown profile \"" + name + "\"; known profiles: " + names());
    }
    profile.run(target, results);
  }

  /** Writes what a profile needs to exist. */
  public static void prepare(String name, Target target) {
    if (name.equals(KubernetesProfile.NAME)) {
      KubernetesProfile.fill(target);
    } else if (!name.equals("put")) {
      fill(target);
    }
  }

  /** Writes every key once, for reads and transactions. */
  public static void fill(Target target) {
    fill(target, FillKeys.batched(target.keyspace()));
  }

  /** Writes the keys in turn until {@code revisions} puts are done. */
  static void fill(Target target, int revisions) {
    fill(target, FillKeys.singly(target.keyspace(), revisions));
  }

  private static void fill(Target target, FillKeys keys) {
    try (Connections connections = target.connect(FILL_CLIENTS)) {
      ClosedLoop.run(connections, FILL_CLIENTS, keys);
    }
  }

  /**
   * Puts and reads for a while without measuring, because a server that compiles its code at run
   * time must not be measured meanwhile.
   */
  public static void warmUpServer(Target target, java.time.Duration time) {
    int clients = 50;
    try (Connections connections = target.connect(clients)) {
      IntFunction<Workload> puts = puts(target);
      IntFunction<Workload> reads = reads(target, false);
      Window window = Window.after(java.time.Duration.ZERO, time);
      ClosedLoop.background(
              connections, clients, window, i -> i % 2 == 0 ? puts.apply(i) : reads.apply(i))
          .run();
    }
  }

  private static void each(
      Target target,
      Consumer<Cell> results,
      String name,
      IntFunction<IntFunction<Workload>> workloads) {
    List<Integer> clients = new ArrayList<>(target.settings().clients());
    clients.forEach(n -> results.accept(ClosedLoop.measure(target, name, n, workloads.apply(n))));
  }

  private static SplittableRandom random(Target target, int client) {
    return new SplittableRandom(target.settings().seed() + client);
  }

  private static IntFunction<Workload> puts(Target target) {
    int size = target.keyspace().size();
    IntFunction<byte[]> puts = target.keyspace().puts();
    return client -> new RandomRequests(EtcdMethod.PUT, size, puts, 1, random(target, client));
  }

  private static IntFunction<Workload> reads(Target target, boolean serializable) {
    int size = target.keyspace().size();
    IntFunction<byte[]> reads = target.keyspace().reads(serializable);
    int least = target.settings().valueBytes();
    return client ->
        new RandomRequests(EtcdMethod.RANGE, size, reads, least, random(target, client));
  }

  private static IntFunction<Workload> ranges(Target target) {
    int span = Math.min(SPAN, target.keyspace().size());
    int size = target.keyspace().size();
    IntFunction<byte[]> ranges = target.keyspace().ranges(span);
    int least = span * target.settings().valueBytes();
    return client ->
        new RandomRequests(EtcdMethod.RANGE, size, ranges, least, random(target, client));
  }

  private static IntFunction<Workload> mix(Target target) {
    IntFunction<Workload> reads = reads(target, false);
    IntFunction<Workload> puts = puts(target);
    return client ->
        new MixedRequests(
            reads.apply(client), puts.apply(client), WRITE_PERCENT, random(target, client));
  }

  private static IntFunction<Workload> txns(Target target, int clients) {
    long[] modRevisions = modRevisions(target);
    return client ->
        new CompareAndPut(target.keyspace(), modRevisions, client, clients, random(target, client));
  }

  private static long[] modRevisions(Target target) {
    long[] modRevisions = new long[target.keyspace().size()];
    try (Connections connection = target.connect(1)) {
      byte[] request = target.keyspace().all(true).toByteArray();
      RangeResponse response =
          RangeResponse.parseFrom(
              connection.call(EtcdMethod.RANGE_KEEP, request, CALL_TIMEOUT_MS).body());
      for (KeyValue kv : response.getKvsList()) {
        modRevisions[Keyspace.index(kv.getKey())] = kv.getModRevision();
      }
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e);
    }
    return modRevisions;
  }
}
