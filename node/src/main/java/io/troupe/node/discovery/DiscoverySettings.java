package io.troupe.node.discovery;

import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * Settings of discovery. Empty texts mean "not set".
 *
 * @param token discovery token, also the token of the new cluster
 * @param endpoints http or https URLs of the cluster that holds the keys, at least one
 * @param dialTimeout timeout of a connection
 * @param requestTimeout timeout of one request
 * @param certFile client certificate for the endpoints; PEM
 * @param keyFile its key; PEM
 * @param trustedCaFile CAs of the endpoints' certificates; PEM; empty: the CAs that the JDK trusts
 * @param trustAnyCertificate true: the endpoints' certificates are not verified
 * @param user user of the login; empty: no login
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
    boolean trustAnyCertificate,
    String user,
    String password) {
  /** Copies the list. */
  public DiscoverySettings {
    endpoints = List.copyOf(endpoints);
  }

  /** Omits the password. */
  @Override
  public String toString() {
    return "token=" + token + " endpoints=" + endpoints + " user=" + user;
  }
}
