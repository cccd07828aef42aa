package io.troupe.node.discovery;

import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * Where first members meet. Empty texts mean "not set".
 *
 * @param token names the meeting; the new cluster's token too
 * @param endpoints http or https URLs of the cluster that holds the keys, at least one
 * @param dialTimeout for a connection
 * @param requestTimeout for one answer
 * @param certFile shown to the endpoints; PEM
 * @param keyFile its key; PEM
 * @param trustedCaFile who may sign the endpoints' certificates; PEM; empty: those that the JDK
 *     trusts
 * @param trustAnybody the endpoints' certificates are not verified
 * @param user for a login; empty: none is needed
 * @param password of the user
 */
public record DiscoverySettings(
    String token,
    List<URI> endpoints,
    Duration dialTimeout,
    Duration requestTimeout,
    String certFile,
    String keyFile,
    String trustedCaFile,
    boolean trustAnybody,
    String user,
    String password) {
  /** Copies the list. */
  public DiscoverySettings {
    endpoints = List.copyOf(endpoints);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "token=" + token + " endpoints=" + endpoints + " user=" + user;
  }
}
