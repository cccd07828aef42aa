package io.troupe.node.discovery;

/**
 * Settings of discovery by SRV records.
 *
 * @param domain domain of the records
 * @param name suffix of the service names, after a dash; empty: none
 * @param server name server, host:port; empty: those of the machine
 */
public record SrvSettings(String domain, String name, String server) {
  /** Returns the record name of members with that scheme. */
  String record(String scheme) {
    return "_etcd-server"
        + (scheme.equals("https") ? "-ssl" : "")
        + (name.isEmpty() ? "" : "-" + name)
        + "._tcp."
        + domain;
  }
}
