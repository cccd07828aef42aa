package io.troupe.ctl.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The flags that every command accepts (CT1). Each is also read from {@code ETCDCTL_NAME}. */
public final class GlobalOptions {
  @Option(
      names = "--endpoints",
      paramLabel = "strings",
      split = ",",
      description = "client URLs or addresses of members (default [127.0.0.1:2379])")
  public List<String> endpoints = new ArrayList<>();

  @Option(
      names = "--debug",
      paramLabel = "bool",
      arity = "1",
      description = "print the flags and the calls")
  public boolean debug;

  @Option(
      names = {"-w", "--write-out"},
      paramLabel = "string",
      defaultValue = "simple",
      description = "output mode: fields, json, protobuf, simple or table")
  public String writeOut = "simple";

  @Option(
      names = "--hex",
      paramLabel = "bool",
      arity = "1",
      description = "print bytes and IDs in hexadecimal")
  public boolean hex;

  @Option(
      names = "--dial-timeout",
      paramLabel = "duration",
      defaultValue = "2s",
      description = "time limit for the login on a new connection")
  public Duration dialTimeout = Duration.ofSeconds(2);

  @Option(
      names = "--command-timeout",
      paramLabel = "duration",
      defaultValue = "5s",
      description = "time limit of a command that waits for one response")
  public Duration commandTimeout = Duration.ofSeconds(5);

  @Option(
      names = "--keepalive-time",
      paramLabel = "duration",
      defaultValue = "2s",
      description = "interval of pings on an idle connection")
  public Duration keepAliveTime = Duration.ofSeconds(2);

  @Option(
      names = "--keepalive-timeout",
      paramLabel = "duration",
      defaultValue = "6s",
      description = "time after which a connection without a reply to a ping is closed")
  public Duration keepAliveTimeout = Duration.ofSeconds(6);

  @Option(
      names = "--max-request-bytes",
      paramLabel = "int",
      description = "largest request in bytes (0: 2 MiB)")
  public int maxRequestBytes;

  @Option(
      names = "--max-recv-bytes",
      paramLabel = "int",
      description = "largest response in bytes (0: 2147483647)")
  public int maxReceiveBytes;

  @Option(
      names = "--insecure-transport",
      paramLabel = "bool",
      arity = "1",
      defaultValue = "true",
      description = "use plaintext for endpoints without a scheme, unless a certificate is given")
  public boolean insecureTransport = true;

  @Option(
      names = "--insecure-discovery",
      paramLabel = "bool",
      arity = "1",
      defaultValue = "true",
      description = "also use endpoints of SRV records that have no TLS")
  public boolean insecureDiscovery = true;

  @Option(
      names = "--insecure-skip-tls-verify",
      paramLabel = "bool",
      arity = "1",
      description = "do not verify the certificate of the server; for tests only")
  public boolean insecureSkipTlsVerify;

  @Option(names = "--cert", paramLabel = "string", description = "file with the client certificate")
  public String cert = "";

  @Option(
      names = "--key",
      paramLabel = "string",
      description = "file with the client's private key")
  public String key = "";

  @Option(names = "--cacert", paramLabel = "string", description = "file with the trusted CAs")
  public String cacert = "";

  @Option(
      names = "--auth-jwt-token",
      paramLabel = "string",
      description = "token to send instead of a login with --user")
  public String token = "";

  @Option(
      names = "--user",
      paramLabel = "string",
      description = "name[:password]; the terminal asks for a missing password")
  public String user = "";

  @Option(
      names = "--password",
      paramLabel = "string",
      description = "password of --user, which then contains the name only")
  public String password = "";

  @Option(
      names = {"-d", "--discovery-srv"},
      paramLabel = "string",
      description = "domain whose SRV records name the endpoints")
  public String discoverySrv = "";

  @Option(
      names = "--discovery-srv-name",
      paramLabel = "string",
      description = "suffix of the service name in the SRV records")
  public String discoverySrvName = "";

  /** The endpoints, at least one, without surrounding space. */
  public List<String> endpointList() {
    return endpoints.isEmpty()
        ? List.of("127.0.0.1:2379")
        : endpoints.stream().map(String::trim).toList();
  }
}
