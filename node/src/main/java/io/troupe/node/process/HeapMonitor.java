package io.troupe.node.process;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryNotificationInfo;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;
import javax.management.JMException;
import javax.management.NotificationEmitter;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the largest classes when a garbage collection leaves almost no free heap. After a failed
 * allocation no Java code runs that could log them.
 */
public final class HeapMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(HeapMonitor.class);

  /** System property in which the launcher names the origin of the limit. */
  private static final String ORIGIN = "io.troupe.heap.origin";

  private static final double NEARLY_FULL = 0.9;
  private static final int LARGEST_CLASSES = 12;
  private static final long MEBIBYTE = 1 << 20;
  private static final long LEAST_INTERVAL_NANOS = 60_000_000_000L;

  private HeapMonitor() {}

  /** Returns the limit of the heap in MiB. */
  public static long limitMebibytes() {
    return Runtime.getRuntime().maxMemory() / MEBIBYTE;
  }

  /** Returns what determined the limit: a variable or memory of the launcher, or {@code JVM}. */
  public static String origin() {
    return System.getProperty(ORIGIN, "JVM");
  }

  /**
   * Monitors the heap until the process exits. Returns immediately, because loading the needed
   * classes takes a moment.
   */
  public static void start() {
    Thread thread = new Thread(HeapMonitor::watch, "heap-monitor");
    thread.setDaemon(true);
    thread.start();
  }

  private static void watch() {
    boolean watched = false;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      long max = pool.getUsage().getMax();
      // The old generation: each collection empties the other pools.
      if (pool.getType() == MemoryType.HEAP
          && pool.isUsageThresholdSupported()
          && pool.isCollectionUsageThresholdSupported()
          && max > 0) {
        pool.setCollectionUsageThreshold((long) (max * NEARLY_FULL));
        watched = true;
      }
    }
    if (watched && ManagementFactory.getMemoryMXBean() instanceof NotificationEmitter emitter) {
      Listener listener = new Listener();
      emitter.addNotificationListener(
          (notification, handback) -> listener.crossed(notification.getType()), null, null);
    }
  }

  /** Called on the JVM's own thread for notifications. */
  private static final class Listener {
    private long lastNanos;
    private boolean logged;

    void crossed(String type) {
      long now = System.nanoTime();
      boolean recent = logged && now - lastNanos < LEAST_INTERVAL_NANOS;
      if (!type.equals(MemoryNotificationInfo.MEMORY_COLLECTION_THRESHOLD_EXCEEDED) || recent) {
        return;
      }
      logged = true;
      lastNanos = now;
      MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
      LOG.warn(
          "heap nearly full after a collection, a large request may stop the member; raise"
              + " TROUPE_HEAP heap-used={}MiB heap-max={}MiB largest={}",
          heap.getUsed() / MEBIBYTE,
          heap.getMax() / MEBIBYTE,
          largest(LARGEST_CLASSES));
    }
  }

  /**
   * Returns the classes that use most of the heap.
   *
   * @param classes number of classes
   * @return name, instances and bytes of each class
   */
  static List<String> largest(int classes) {
    try {
      Object histogram =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  // Without another collection: one has just run.
                  new Object[] {new String[] {"-all"}},
                  new String[] {String[].class.getName()});
      return String.valueOf(histogram)
          .lines()
          .map(line -> line.trim().split("\\s+", -1))
          .filter(words -> words.length >= 4 && words[0].matches("\\d+:"))
          .limit(classes)
          .map(words -> words[3] + " instances=" + words[1] + " bytes=" + words[2])
          .toList();
    } catch (JMException e) {
      return List.of("unknown: " + e);
    }
  }
}
