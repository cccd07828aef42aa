package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.LoginException;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.print.TableText;
import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.Sizes;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A table of all members that is drawn again and again: leader, load, lag, alarms. */
@Command(
    name = "top",
    customSynopsis = "top [options]",
    description = {
      "Shows the members, their leader, load, lag and alarms",
      "",
      "LAG: entries that the member has to apply. PUTS/S, TXNS/S and READS/S: from /metrics of the",
      "member since the last table."
    })
final class TopCommand implements Runnable {
  private static final List<String> HEADER =
      List.of(
          "ID", "Name", "Role", "Version", "Term", "Index", "Lag", "Puts/s", "Txns/s", "Reads/s",
          "DB size", "Alarms");
  private static final String CLEAR = "\u001b[H\u001b[2J";

  private final Session session;

  @Option(
      names = "--interval",
      paramLabel = "duration",
      defaultValue = "2s",
      description = "time between two tables")
  Duration interval = Duration.ofSeconds(2);

  @Option(
      names = "--count",
      paramLabel = "int",
      description = "number of tables; 0: until interrupted")
  long count;

  private final Map<Long, Sample> samples = new HashMap<>();
  private final Map<String, EtcdClient> clients = new HashMap<>();

  TopCommand(Session session) {
    this.session = session;
  }

  /** Counters of a member. */
  record Sample(long nanos, double puts, double txns, double reads) {
    static Sample of(Metrics metrics, long nanos) {
      return new Sample(
          nanos,
          metrics.value("etcd_mvcc_put_total").orElse(Double.NaN),
          metrics.value("etcd_mvcc_txn_total").orElse(Double.NaN),
          metrics.value("etcd_mvcc_range_total").orElse(Double.NaN));
    }
  }

  /** What is known of a member at one time; without a status it does not respond. */
  record Row(Member member, @Nullable StatusResponse status, Sample sample) {}

  @Override
  public void run() {
    if (interval.compareTo(Duration.ofMillis(100)) < 0) {
      throw CtlException.arguments("--interval: less than 100ms");
    }
    for (long drawn = 1; ; drawn++) {
      List<String> lines = TableText.lines(HEADER, table());
      if (session.console().isTerminal()) {
        session.console().print(CLEAR);
      }
      lines.forEach(session.console()::line);
      session.console().flush();
      if (drawn == count) {
        return;
      }
      try {
        TimeUnit.NANOSECONDS.sleep(interval.toNanos());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw CtlException.silent(ExitCode.INTERRUPTED);
      }
    }
  }

  private List<List<String>> table() {
    EtcdClient client = session.client();
    List<Member> members =
        client
            .read(EtcdMethods.MEMBER_LIST, MemberListRequest.getDefaultInstance())
            .getMembersList();
    List<AlarmMember> alarms =
        client.read(EtcdMethods.ALARM, AlarmRequest.getDefaultInstance()).getAlarmsList();
    List<CompletableFuture<Row>> reads = new ArrayList<>();
    for (Member member : members) {
      EtcdClient own = clientOf(member);
      reads.add(CompletableFuture.supplyAsync(() -> read(member, own), Session.THREADS));
    }
    List<Row> rows = reads.stream().map(CompletableFuture::join).toList();
    List<List<String>> table = rows(rows, samples, alarms);
    for (Row row : rows) {
      samples.put(row.member().getID(), row.sample());
    }
    return table;
  }

  private @Nullable EtcdClient clientOf(Member member) {
    if (member.getClientURLsCount() == 0) {
      return null;
    }
    return clients.computeIfAbsent(member.getClientURLs(0), session::clientOf);
  }

  private Row read(Member member, @Nullable EtcdClient client) {
    Sample none = Sample.of(new Metrics(Map.of(), ""), System.nanoTime());
    if (client == null) {
      return new Row(member, null, none);
    }
    try {
      StatusResponse status = client.call(EtcdMethods.STATUS, StatusRequest.getDefaultInstance());
      Metrics metrics = Metrics.fetch(member.getClientURLs(0), session.settings());
      return new Row(member, status, Sample.of(metrics, System.nanoTime()));
    } catch (RpcException | LoginException e) {
      return new Row(member, null, none);
    }
  }

  /** The cells of the table. */
  static List<List<String>> rows(
      List<Row> rows, Map<Long, Sample> before, List<AlarmMember> alarms) {
    long newest = 0;
    for (Row row : rows) {
      newest = row.status() == null ? newest : Math.max(newest, row.status().getRaftIndex());
    }
    List<List<String>> cells = new ArrayList<>();
    for (Row row : rows) {
      Sample last = before.get(row.member().getID());
      List<String> names = new ArrayList<>();
      for (AlarmMember alarm : alarms) {
        if (alarm.getMemberID() == row.member().getID()) {
          names.add(alarm.getAlarm().name());
        }
      }
      cells.add(cells(row, last == null ? row.sample() : last, newest, names));
    }
    return cells;
  }

  private static List<String> cells(Row row, Sample last, long newest, List<String> alarms) {
    String id = Integers.hex(row.member().getID());
    String name = row.member().getName();
    StatusResponse status = row.status();
    if (status == null) {
      return List.of(
          id, name, "unreachable", "", "", "", "", "", "", "", "", String.join(",", alarms));
    }
    Sample now = row.sample();
    double seconds = (now.nanos() - last.nanos()) / 1e9;
    return List.of(
        id,
        name,
        role(row.member(), status),
        status.getVersion(),
        Long.toUnsignedString(status.getRaftTerm()),
        Long.toUnsignedString(status.getRaftAppliedIndex()),
        Long.toString(Math.max(0, newest - status.getRaftAppliedIndex())),
        rate(now.puts() - last.puts(), seconds),
        rate(now.txns() - last.txns(), seconds),
        rate(now.reads() - last.reads(), seconds),
        Sizes.format(status.getDbSize()),
        String.join(",", alarms));
  }

  private static String role(Member member, StatusResponse status) {
    if (status.getLeader() == member.getID()) {
      return "leader";
    }
    return status.getIsLearner() ? "learner" : status.getLeader() == 0 ? "no leader" : "follower";
  }

  private static String rate(double change, double seconds) {
    return seconds <= 0 || Double.isNaN(change)
        ? "-"
        : String.format(Locale.ROOT, "%.0f", Math.max(0, change / seconds));
  }
}
