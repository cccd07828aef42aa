package io.troupe.ctl.client;

import java.time.Duration;
import java.util.List;

/**
 * How to reach a cluster.
 *
 * @param endpoints at least one
 * @param commandTimeout limit of a call with one response
 * @param dialTimeout limit of the login
 * @param maxRequestBytes 1 or more
 * @param maxResponseBytes 1 or more
 */
public record ClientSettings(
    List<String> endpoints,
    TlsSettings tls,
    Login login,
    Duration commandTimeout,
    Duration dialTimeout,
    Duration keepAliveTime,
    Duration keepAliveTimeout,
    int maxRequestBytes,
    int maxResponseBytes) {

  public ClientSettings {
    endpoints = List.copyOf(endpoints);
  }

  /** The same for other endpoints. */
  public ClientSettings withEndpoints(List<String> others) {
    return new ClientSettings(
        others,
        tls,
        login,
        commandTimeout,
        dialTimeout,
        keepAliveTime,
        keepAliveTimeout,
        maxRequestBytes,
        maxResponseBytes);
  }
}
