package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.ClientSettings;
import io.troupe.ctl.client.Endpoint;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.LoginException;
import io.troupe.ctl.client.Reachability;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.client.TlsContext;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Examines a cluster: reachability, versions, leader, disk, clock, limits, certificates, alarms.
 */
@Command(
    name = "doctor",
    customSynopsis = "doctor [options]",
    description = {
      "Examines the cluster and prints findings with their remedies",
      "",
      "Checks reachability, versions, leader, lag, quota, alarms, flush latency, clock, file limits",
      "and certificates. The exit code is 1 if a finding is FAIL."
    })
final class DoctorCommand implements Runnable {
  private final Session session;

  @Option(
      names = "--cluster",
      arity = "1",
      description = "use the client URLs of all members of the cluster")
  boolean cluster;

  DoctorCommand(Session session) {
    this.session = session;
  }

  @Override
  public void run() {
    List<Finding> findings = new ArrayList<>(certificates());
    Map<String, StatusResponse> statuses = new LinkedHashMap<>();
    ClientSettings settings = session.settings();
    for (String endpoint : EndpointCommands.endpoints(session, cluster)) {
      examine(endpoint, settings, findings, statuses);
    }
    findings.addAll(Diagnosis.cluster(statuses));
    if (!statuses.isEmpty()) {
      findings.addAll(alarms(statuses.keySet().iterator().next()));
    }
    boolean failed = false;
    for (Finding finding : findings) {
      failed |= finding.level() == Finding.Level.FAIL;
      session
          .console()
          .line(
              String.format(
                  Locale.ROOT, "%-4s  %s: %s", finding.level(), finding.subject(), finding.text()));
      if (!finding.remedy().isEmpty()) {
        session.console().line("      remedy: " + finding.remedy());
      }
    }
    if (failed) {
      throw CtlException.silent(ExitCode.ERROR);
    }
  }

  private void examine(
      String text,
      ClientSettings settings,
      List<Finding> findings,
      Map<String, StatusResponse> statuses) {
    Endpoint endpoint;
    try {
      endpoint = Endpoint.parse(text);
    } catch (IllegalArgumentException e) {
      findings.add(Finding.fail(text, String.valueOf(e.getMessage()), "correct --endpoints"));
      return;
    }
    String problem = Reachability.problem(endpoint, settings.tls());
    if (problem != null) {
      findings.add(
          Finding.fail(
              text,
              problem,
              "check that the member runs, its listen-client-urls, firewalls, and the TLS flags"));
      return;
    }
    try (EtcdClient client = session.clientOf(text)) {
      StatusRequest request = StatusRequest.getDefaultInstance();
      statuses.put(text, client.call(EtcdMethods.STATUS, request));
      // The first call also opens the connection.
      long start = System.nanoTime();
      var unused = client.call(EtcdMethods.STATUS, request);
      findings.add(Diagnosis.latency(text, Duration.ofNanos(System.nanoTime() - start)));
    } catch (RpcException | LoginException e) {
      findings.add(
          Finding.fail(
              text,
              "accepts connections but gives no status: " + e.getMessage(),
              "read the log of the member; check user and password"));
      return;
    }
    findings.addAll(Diagnosis.metrics(text, Metrics.fetch(text, settings)));
    findings.addAll(ServerFacts.read(endpoint, settings).findings(text, Instant.now()));
  }

  private List<Finding> alarms(String endpoint) {
    List<Finding> findings = new ArrayList<>();
    try (EtcdClient client = session.clientOf(endpoint)) {
      for (AlarmMember alarm :
          client.read(EtcdMethods.ALARM, AlarmRequest.getDefaultInstance()).getAlarmsList()) {
        findings.add(Diagnosis.alarm(alarm));
      }
      if (findings.isEmpty()) {
        findings.add(Finding.ok("cluster", "no alarm"));
      }
    } catch (RpcException e) {
      findings.add(
          Finding.fail(
              "cluster",
              "cannot read the alarms: " + e.getMessage(),
              "check that a majority of the members runs"));
    }
    return findings;
  }

  private List<Finding> certificates() {
    List<Finding> findings = new ArrayList<>();
    for (String file : List.of(session.options().cert, session.options().cacert)) {
      if (file.isEmpty()) {
        continue;
      }
      try {
        for (Certificate certificate : TlsContext.certificates(file)) {
          if (certificate instanceof X509Certificate x509) {
            findings.add(Diagnosis.certificate(file, x509, Instant.now()));
          }
        }
      } catch (IllegalArgumentException e) {
        findings.add(
            Finding.fail(file, String.valueOf(e.getMessage()), "give a readable PEM file"));
      }
    }
    return findings;
  }
}
