package io.troupe.testkit;

import static io.troupe.testkit.TestClient.await;
import static io.troupe.testkit.TestClient.bytes;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Records how long a start takes in a warm JVM, until the first put is answered. Asserts nothing
 * about time; run it by name (docs/testkit.md).
 */
class StartTimes {
  private static final int WARM_UP = Integer.getInteger("troupe.testkit.warmup", 20);
  private static final int STARTS = Integer.getInteger("troupe.testkit.starts", 20);

  private record Start(double readyMs, double putMs, double closeMs, double cpuMs) {}

  private static double ms(long fromNanos, long toNanos) {
    return (toNanos - fromNanos) / 1e6;
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static Start start(int members) {
    long cpu = cpuNanos();
    long begin = System.nanoTime();
    TroupeServer server = TroupeServer.builder().members(members).start();
    long ready = System.nanoTime();
    long put;
    double cpuMs;
    try (TestClient client = new TestClient(server.endpoints())) {
      await(client.jetcd().getKVClient().put(bytes("key"), bytes("value")));
      put = System.nanoTime();
      cpuMs = ms(cpu, cpuNanos());
    }
    long closing = System.nanoTime();
    server.close();
    return new Start(ms(begin, ready), ms(begin, put), ms(closing, System.nanoTime()), cpuMs);
  }

  private static String row(String name, List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int size = sorted.size();
    double median = (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
    return String.format(
        Locale.ROOT,
        "| %s | %.0f | %.0f | %.0f |",
        name,
        median,
        sorted.get(0),
        sorted.get(size - 1));
  }

  private static void record(int members) {
    List<Double> cold = new ArrayList<>();
    for (int i = 0; i < WARM_UP; i++) {
      cold.add(start(members).putMs());
    }
    System.out.printf(
        Locale.ROOT,
        "%n%d member(s), first starts until first put is answered, ms: %s%n",
        members,
        cold.stream().map(each -> String.format(Locale.ROOT, "%.0f", each)).toList());
    List<Start> starts = new ArrayList<>();
    for (int i = 0; i < STARTS; i++) {
      starts.add(start(members));
    }
    System.out.println("| " + members + " member(s) | median ms | least ms | most ms |");
    System.out.println("|---|---:|---:|---:|");
    System.out.println(row("start until ready", starts.stream().map(Start::readyMs).toList()));
    System.out.println(
        row("start until first put is answered", starts.stream().map(Start::putMs).toList()));
    System.out.println(
        row("CPU of the JVM until then", starts.stream().map(Start::cpuMs).toList()));
    System.out.println(row("close", starts.stream().map(Start::closeMs).toList()));
  }

  @Test
  void recordSingleMember() {
    record(1);
  }

  @Test
  void recordThreeMembers() {
    record(3);
  }
}
