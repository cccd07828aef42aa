package io.troupe.node.discovery;

/**
 * Whose SRV records name the first members.
 *
 * @param domain below which the records are
 * @param name ends the names of the services, behind a dash; empty: it does not
 * @param server the name server to ask, host:port; empty: those of the machine
 */
public record SrvSettings(String domain, String name, String server) {
  /** The record of members that are reached by that scheme. */
  String record(String scheme) {
    return "_etcd-server"
        + (scheme.equals("https") ? "-ssl" : "")
        + (name.isEmpty() ? "" : "-" + name)
        + "._tcp."
        + domain;
  }
}
