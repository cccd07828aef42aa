package io.troupe.edge.http;

import io.troupe.edge.connection.ConnectionLimits;
import io.troupe.edge.connection.KeepAlive;
import java.util.Set;

/**
 * HTTP endpoints and connection limits of the client ports. Validated where the configuration is
 * read.
 *
 * @param cors origins that browsers may call from; empty, or with {@code *}: all (H7)
 * @param hostWhitelist names in the header Host that are served without TLS; empty, or with {@code
 *     *}: all (H6)
 * @param profiling serve /debug/pprof
 * @param jsonGateway serve /v3/
 * @param keepAlive pings of HTTP/2
 * @param limits of each connection
 * @param sharedPorts whether other processes may listen on the same ports at the same time
 * @param statusPage when the page at / is served
 * @param version Troupe's own version and commit, for that page
 */
public record HttpSettings(
    Set<String> cors,
    Set<String> hostWhitelist,
    boolean profiling,
    boolean jsonGateway,
    KeepAlive keepAlive,
    ConnectionLimits limits,
    boolean sharedPorts,
    StatusPageMode statusPage,
    String version) {
  /** Copies the sets. */
  public HttpSettings {
    cors = Set.copyOf(cors);
    hostWhitelist = Set.copyOf(hostWhitelist);
  }

  /** True if this origin may call. */
  boolean allowsOrigin(String origin) {
    return allows(cors, origin);
  }

  /** True if this host name is served. */
  boolean allowsHost(String host) {
    return allows(hostWhitelist, host);
  }

  private static boolean allows(Set<String> list, String one) {
    return list.isEmpty() || list.contains("*") || list.contains(one);
  }
}
