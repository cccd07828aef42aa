package io.troupe.bench.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** CPU time of the whole machine: shows whether other programs were busy during a measurement. */
public final class MachineUsage {
  private static final double TICKS_PER_SECOND = 100.0;

  private MachineUsage() {}

  /**
   * CPU-seconds in which the cores were not idle since the machine started, including time stolen
   * by its host.
   */
  public static double busySeconds() {
    try {
      return parse(Files.readString(Path.of("/proc/stat")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static double parse(String procStat) {
    String[] fields = procStat.lines().findFirst().orElse("cpu").trim().split(" +", -1);
    double busy = 0;
    // user nice system idle iowait irq softirq steal; user already includes the guest times.
    for (int i = 1; i < Math.min(fields.length, 9); i++) {
      if (i != 4 && i != 5) {
        busy += Double.parseDouble(fields[i]);
      }
    }
    return busy / TICKS_PER_SECOND;
  }
}
