package io.troupe.ctl.command;

import io.troupe.ctl.text.Durations;
import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.Sizes;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmType;
import io.troupe.grpc.api.StatusResponse;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeSet;

/** Rates what {@code ctl doctor} has measured. */
final class Diagnosis {
  private static final Duration SLOW_STATUS = Duration.ofMillis(100);
  private static final Duration CLOCK_WARNING = Duration.ofSeconds(2);
  private static final Duration EXPIRY_WARNING = Duration.ofDays(30);
  private static final double SLOW_FLUSH_SECONDS = 0.01;
  private static final double FULL = 0.8;
  private static final long LARGE_LAG = 1000;
  private static final String FLUSH = "etcd_disk_wal_fsync_duration_seconds";

  private Diagnosis() {}

  static Finding latency(String endpoint, Duration took) {
    String text = "status in " + Durations.format(took.toNanos() / 1000 * 1000);
    return took.compareTo(SLOW_STATUS) <= 0
        ? Finding.ok(endpoint, text)
        : Finding.warn(endpoint, text, "check the network to the member and its CPU load");
  }

  /** Findings that need the status of all members. */
  static List<Finding> cluster(Map<String, StatusResponse> statuses) {
    List<Finding> findings = new ArrayList<>();
    TreeSet<String> versions = new TreeSet<>();
    TreeSet<String> clusters = new TreeSet<>();
    TreeSet<String> leaders = new TreeSet<>();
    long newest = 0;
    for (StatusResponse status : statuses.values()) {
      versions.add(status.getVersion());
      clusters.add(Integers.hex(status.getHeader().getClusterId()));
      leaders.add(Integers.hex(status.getLeader()));
      newest = Math.max(newest, status.getRaftIndex());
    }
    for (Map.Entry<String, StatusResponse> each : statuses.entrySet()) {
      member(each.getKey(), each.getValue(), newest, findings);
    }
    if (statuses.isEmpty()) {
      return findings;
    }
    if (clusters.size() > 1) {
      findings.add(
          Finding.fail(
              "cluster",
              "the endpoints belong to several clusters: " + String.join(", ", clusters),
              "give endpoints of one cluster"));
    }
    if (versions.size() > 1) {
      findings.add(
          Finding.warn(
              "cluster",
              "members have several versions: " + String.join(", ", versions),
              "finish the upgrade, one member after the other"));
    } else {
      findings.add(Finding.ok("cluster", "version " + versions.first()));
    }
    if (leaders.size() == 1 && !leaders.contains("0")) {
      findings.add(Finding.ok("cluster", "leader " + leaders.first()));
    } else if (leaders.size() > 1) {
      findings.add(
          Finding.warn(
              "cluster",
              "members name several leaders: " + String.join(", ", leaders),
              "repeat the command; if it stays, check the network between the members"));
    }
    return findings;
  }

  private static void member(
      String endpoint, StatusResponse status, long newest, List<Finding> findings) {
    if (status.getLeader() == 0) {
      findings.add(
          Finding.fail(
              endpoint,
              "the member has no leader",
              "start members until a majority runs; check the network between them"));
    }
    long lag = newest - status.getRaftAppliedIndex();
    if (lag > LARGE_LAG) {
      findings.add(
          Finding.warn(
              endpoint,
              "the member lags by " + lag + " entries",
              "check its disk and CPU; wait if it was started recently"));
    }
    for (String error : status.getErrorsList()) {
      findings.add(Finding.fail(endpoint, "status error: " + error, "read the log of the member"));
    }
    long quota = status.getDbSizeQuota();
    String size = Sizes.format(status.getDbSizeInUse()) + " of " + Sizes.format(quota);
    if (quota > 0 && status.getDbSizeInUse() > FULL * quota) {
      findings.add(
          Finding.warn(
              endpoint,
              "the data takes " + size,
              "compact old revisions, delete keys, or raise quota-backend-bytes"));
    } else if (quota > 0) {
      findings.add(Finding.ok(endpoint, "the data takes " + size));
    }
  }

  static Finding alarm(AlarmMember alarm) {
    String text = "alarm " + alarm.getAlarm() + " of member " + Integers.hex(alarm.getMemberID());
    return Finding.fail(
        "cluster",
        text,
        alarm.getAlarm() == AlarmType.NOSPACE
            ? "compact, defrag or raise the quota, then: ctl alarm disarm"
            : "compare the members with: ctl endpoint hashkv --cluster; replace the one that differs");
  }

  /** Flush latency and file limits. */
  static List<Finding> metrics(String endpoint, Metrics metrics) {
    if (!metrics.error().isEmpty()) {
      return List.of(
          Finding.warn(
              endpoint,
              "cannot read /metrics: " + metrics.error(),
              "give an endpoint that serves HTTP, and the TLS flags"));
    }
    List<Finding> findings = new ArrayList<>();
    OptionalDouble count = metrics.value(FLUSH + "_count");
    OptionalDouble sum = metrics.value(FLUSH + "_sum");
    if (count.isPresent() && sum.isPresent() && count.getAsDouble() > 0) {
      double mean = sum.getAsDouble() / count.getAsDouble();
      String text = String.format(Locale.ROOT, "a flush of the log takes %.1f ms", mean * 1000);
      findings.add(
          mean <= SLOW_FLUSH_SECONDS
              ? Finding.ok(endpoint, text)
              : Finding.warn(
                  endpoint,
                  text + " on average",
                  "use a local SSD, and no other program with much I/O on it; or set wal-dir"));
    }
    OptionalDouble open = metrics.value("process_open_fds");
    OptionalDouble most = metrics.value("process_max_fds");
    if (open.isPresent() && most.isPresent()) {
      String text =
          String.format(
              Locale.ROOT, "%.0f of %.0f files open", open.getAsDouble(), most.getAsDouble());
      findings.add(
          open.getAsDouble() <= FULL * most.getAsDouble()
              ? Finding.ok(endpoint, text)
              : Finding.fail(
                  endpoint, text, "raise LimitNOFILE of the service (ulimit -n) and restart it"));
    }
    return findings;
  }

  /**
   * @param difference the server's time minus the local time; seconds are the resolution
   */
  static Finding clock(String endpoint, Duration difference) {
    if (difference.abs().compareTo(CLOCK_WARNING) <= 0) {
      return Finding.ok(endpoint, "its clock differs by less than 3 s");
    }
    return Finding.warn(
        endpoint,
        "its clock differs by " + difference.toSeconds() + " s from this machine",
        "synchronize the clocks with NTP; certificates and tokens depend on them");
  }

  static Finding certificate(String subject, X509Certificate certificate, Instant now) {
    Instant end = certificate.getNotAfter().toInstant();
    String name = certificate.getSubjectX500Principal().getName();
    if (now.isBefore(certificate.getNotBefore().toInstant())) {
      return Finding.fail(
          subject,
          "certificate of "
              + name
              + " is valid only from "
              + certificate.getNotBefore().toInstant(),
          "check the clock of this machine, or issue a new certificate");
    }
    if (!now.isBefore(end)) {
      return Finding.fail(
          subject, "certificate of " + name + " expired at " + end, "issue a new certificate");
    }
    Duration left = Duration.between(now, end);
    String text = "certificate of " + name + " expires in " + left.toDays() + " days";
    return left.compareTo(EXPIRY_WARNING) > 0
        ? Finding.ok(subject, text)
        : Finding.warn(subject, text, "issue a new certificate before " + end);
  }
}
