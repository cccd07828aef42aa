package io.troupe.ctl.command;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.text.KeyRanges;
import io.troupe.ctl.text.Quoted;
import io.troupe.ctl.text.RawArguments;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.DefragmentRequest;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Load on a cluster: check perf, check datascale. */
@Command(name = "check", description = "Checks properties of the cluster")
final class CheckCommands {
  private static final String LOAD = "s (small), m (medium), l (large) or xl (xLarge)";
  private static final String COMPACT = "compact the history at the end";
  private static final String DEFRAG = "defragment the members at the end";
  private static final int PERF_SECONDS = 60;
  private static final Duration CLEANUP = Duration.ofSeconds(30);

  private final Session session;
  private final Random random = new Random();

  CheckCommands(Session session) {
    this.session = session;
  }

  /** A workload: requests in total or for each second, and clients. */
  private record Load(int limit, int clients) {}

  private static Load load(String name, Load small, Load medium, Load large, Load extraLarge) {
    return switch (name) {
      case "s", "small" -> small;
      case "m", "medium" -> medium;
      case "l", "large" -> large;
      case "xl", "xLarge" -> extraLarge;
      default -> throw new CtlException(ExitCode.BAD_FEATURE, "unknown load option " + name);
    };
  }

  private List<EtcdClient> clients(int count) {
    List<EtcdClient> clients = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      clients.add(session.open(session.settings()));
    }
    return clients;
  }

  private static DeleteRangeRequest all(ByteString prefix) {
    return DeleteRangeRequest.newBuilder()
        .setKey(prefix)
        .setRangeEnd(KeyRanges.prefixEnd(prefix))
        .build();
  }

  private static void requireEmpty(EtcdClient client, String prefix) {
    ByteString key = RawArguments.encode(prefix);
    RangeRequest request =
        RangeRequest.newBuilder()
            .setKey(key)
            .setRangeEnd(KeyRanges.prefixEnd(key))
            .setLimit(1)
            .build();
    if (client.read(EtcdMethods.RANGE, request).getKvsCount() > 0) {
      throw new CtlException(
          ExitCode.INVALID_INPUT,
          "prefix "
              + Quoted.quote(prefix)
              + " has keys. Delete with 'etcdctl del --prefix "
              + prefix
              + "' first");
    }
  }

  private PutRequest put(ByteString prefix, int keyBytes, int valueBytes) {
    byte[] suffix = new byte[keyBytes];
    random.nextBytes(suffix);
    return PutRequest.newBuilder()
        .setKey(prefix.concat(ByteString.copyFrom(suffix)))
        .setValue(ByteString.copyFrom(new byte[valueBytes]))
        .build();
  }

  private boolean printErrors(LoadRun.Result result) {
    if (result.errors().isEmpty()) {
      return true;
    }
    session.console().line("FAIL: too many errors");
    result
        .errors()
        .forEach((text, count) -> session.console().line("FAIL: ERROR(" + text + ") -> " + count));
    return false;
  }

  @Command(
      name = "perf",
      customSynopsis = "perf [options]",
      description = "Writes for 60 s and rates throughput and latency")
  void perf(
      @Option(names = "--load", paramLabel = "string", defaultValue = "s", description = LOAD)
          String load,
      @Option(
              names = "--prefix",
              paramLabel = "string",
              defaultValue = "/etcdctl-check-perf/",
              description = "prefix of the keys to write")
          String prefix,
      @Option(names = "--auto-compact", arity = "1", description = COMPACT) boolean compact,
      @Option(names = "--auto-defrag", arity = "1", description = DEFRAG) boolean defrag) {
    Load chosen =
        load(
            load,
            new Load(150, 50),
            new Load(1000, 200),
            new Load(8000, 500),
            new Load(15000, 1000));
    session.printer();
    List<EtcdClient> clients = clients(chosen.clients());
    requireEmpty(clients.get(0), prefix);
    ByteString start = RawArguments.encode(prefix);
    LoadRun.Result result;
    try (OnInterrupt hook = OnInterrupt.run(() -> cleanUp(clients.get(0), start, false));
        Progress progress = Progress.of(session.console(), "writing", PERF_SECONDS)) {
      result = write(clients, start, chosen.limit(), progress);
    }
    cleanUp(clients.get(0), start, compact);
    if (defrag) {
      defragment();
    }
    boolean served = printErrors(result);
    boolean passed = rate(result, chosen.limit()) && served;
    session.console().line(passed ? "PASS" : "FAIL");
    if (!passed) {
      throw CtlException.silent(ExitCode.ERROR);
    }
  }

  private LoadRun.Result write(
      List<EtcdClient> clients, ByteString prefix, int perSecond, Progress progress) {
    try {
      LoadRun run = new LoadRun(clients, progress, false);
      long begin = System.nanoTime();
      long second = 0;
      for (long number = 0; ; number++) {
        long elapsed = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
        progress.add(elapsed - second);
        second = elapsed;
        if (elapsed >= PERF_SECONDS) {
          return run.finish();
        }
        run.put(put(prefix, 256, 1024));
        LoadRun.pace(begin, number, perSecond);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CtlException.silent(ExitCode.INTERRUPTED);
    }
  }

  private boolean rate(LoadRun.Result result, int limit) {
    boolean fast = result.perSecond() / limit > 0.9;
    session
        .console()
        .line(
            (fast ? "PASS: Throughput is " : "FAIL: Throughput too low: ")
                + ((int) result.perSecond() + 1)
                + " writes/s");
    boolean slowest = result.slowest() <= 0.5;
    session
        .console()
        .line(
            String.format(
                Locale.ROOT,
                slowest ? "PASS: Slowest request took %fs" : "Slowest request took too long: %fs",
                result.slowest()));
    boolean steady = result.deviation() <= 0.1;
    session
        .console()
        .line(
            String.format(
                Locale.ROOT,
                steady ? "PASS: Stddev is %fs" : "Stddev too high: %fs",
                result.deviation()));
    return fast && slowest && steady;
  }

  private void cleanUp(EtcdClient client, ByteString prefix, boolean compact) {
    try {
      long revision =
          client.call(EtcdMethods.DELETE_RANGE, all(prefix), CLEANUP).getHeader().getRevision();
      if (compact) {
        compact(client, revision);
      }
    } catch (RpcException e) {
      session
          .console()
          .line("FAIL: Cleanup failed during key deletion: ERROR(" + e.getMessage() + ")");
    }
  }

  private void compact(EtcdClient client, long revision) {
    session.console().line("Compacting with revision " + revision);
    CompactionRequest request =
        CompactionRequest.newBuilder().setRevision(revision).setPhysical(true).build();
    var unused = client.call(EtcdMethods.COMPACT, request, CLEANUP);
    session.console().line("Compacted with revision " + revision);
  }

  private void defragment() {
    for (String endpoint : session.settings().endpoints()) {
      session.console().line("Defragmenting " + Quoted.quote(endpoint));
      try (EtcdClient client = session.clientOf(endpoint)) {
        var unused =
            client.call(EtcdMethods.DEFRAGMENT, DefragmentRequest.getDefaultInstance(), CLEANUP);
      }
      session.console().line("Defragmented " + Quoted.quote(endpoint));
    }
  }

  @Command(
      name = "datascale",
      customSynopsis = "datascale [options]",
      description = "Writes many keys and prints how much memory the first endpoint takes for them")
  void datascale(
      @Option(names = "--load", paramLabel = "string", defaultValue = "s", description = LOAD)
          String load,
      @Option(
              names = "--prefix",
              paramLabel = "string",
              defaultValue = "/etcdctl-check-datascale/",
              description = "prefix of the keys to write")
          String prefix,
      @Option(names = "--auto-compact", arity = "1", description = COMPACT) boolean compact,
      @Option(names = "--auto-defrag", arity = "1", description = DEFRAG) boolean defrag) {
    Load chosen =
        load(
            load,
            new Load(10_000, 50),
            new Load(100_000, 200),
            new Load(1_000_000, 500),
            new Load(3_000_000, 1000));
    session.printer();
    List<EtcdClient> clients = clients(chosen.clients());
    requireEmpty(clients.get(0), prefix);
    ByteString start = RawArguments.encode(prefix);
    double before = memory("before");
    session
        .console()
        .line(
            "Start data scale check for work load ["
                + chosen.limit()
                + " key-value pairs, 1024 bytes per key-value, "
                + chosen.clients()
                + " concurrent clients].");
    session.console().flush();
    LoadRun.Result result;
    try (Progress progress = Progress.of(session.console(), "writing", chosen.limit())) {
      LoadRun run = new LoadRun(clients, progress, true);
      for (int i = 0; i < chosen.limit(); i++) {
        run.put(put(start, 512, 512));
      }
      result = run.finish();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CtlException.silent(ExitCode.INTERRUPTED);
    }
    double after = memory("after");
    long revision =
        clients
            .get(0)
            .call(EtcdMethods.DELETE_RANGE, all(start), CLEANUP)
            .getHeader()
            .getRevision();
    if (compact) {
      compact(clients.get(0), revision);
    }
    if (defrag) {
      defragment();
    }
    if (!printErrors(result)) {
      throw CtlException.silent(ExitCode.ERROR);
    }
    session
        .console()
        .line(
            String.format(
                Locale.ROOT,
                "PASS: Approximate system memory used : %.2f MB.",
                (after - before) / (1024 * 1024)));
  }

  private double memory(String when) {
    OptionalDouble bytes =
        Metrics.fetch(session.settings().endpoints().get(0), session.settings())
            .value("process_resident_memory_bytes");
    if (bytes.isEmpty()) {
      session
          .console()
          .line(
              "FAIL: Could not read process_resident_memory_bytes "
                  + when
                  + " the put operations.");
      throw CtlException.silent(ExitCode.ERROR);
    }
    return bytes.getAsDouble();
  }
}
