package io.troupe.ctl.client;

import java.util.ArrayList;
import java.util.List;
import javax.naming.NamingEnumeration;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.InitialDirContext;
import org.jspecify.annotations.Nullable;

/** Endpoints from SRV records of a domain. */
public final class SrvDiscovery {
  private SrvDiscovery() {}

  /**
   * Queries {@code _etcd-client-ssl._tcp} and {@code _etcd-client._tcp}.
   *
   * @param name suffix of both service names; may be empty
   * @return URLs, those with TLS first
   * @throws IllegalArgumentException if neither has records
   */
  public static List<String> endpoints(String domain, String name) {
    String suffix = name.isEmpty() ? "" : "-" + name;
    List<String> found = new ArrayList<>();
    NamingException failure = query("https", "_etcd-client-ssl" + suffix, domain, found);
    NamingException second = query("http", "_etcd-client" + suffix, domain, found);
    if (found.isEmpty()) {
      NamingException cause = failure == null ? second : failure;
      throw new IllegalArgumentException(
          "error querying DNS SRV records for _etcd-client"
              + suffix
              + " of "
              + domain
              + (cause == null ? "" : ": " + cause.getMessage()),
          cause);
    }
    return found;
  }

  /**
   * The URL of the context is dns: whatever the domain is, so no object is read from a directory.
   */
  @SuppressWarnings({"JdkObsolete", "BanJNDI"})
  private static @Nullable NamingException query(
      String scheme, String service, String domain, List<String> found) {
    try {
      InitialDirContext context = new InitialDirContext();
      try {
        Attribute records =
            context
                .getAttributes("dns:/" + service + "._tcp." + domain, new String[] {"SRV"})
                .get("SRV");
        NamingEnumeration<?> all = records == null ? null : records.getAll();
        while (all != null && all.hasMore()) {
          // Priority, weight, port, host.
          List<String> fields = List.of(all.next().toString().split(" ", -1));
          String host = fields.get(3);
          found.add(
              scheme
                  + "://"
                  + (host.endsWith(".") ? host.substring(0, host.length() - 1) : host)
                  + ":"
                  + fields.get(2));
        }
      } finally {
        context.close();
      }
      return null;
    } catch (NamingException e) {
      return e;
    }
  }
}
