package io.troupe.node.discovery;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.Set;
import javax.naming.Context;
import javax.naming.NameNotFoundException;
import javax.naming.NamingEnumeration;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.DirContext;
import javax.naming.directory.InitialDirContext;

/** Reads SRV records with the JDK's DNS client, and addresses with the resolver of the machine. */
final class JndiDns implements Dns {
  private final String url;

  /**
   * Opens nothing yet.
   *
   * @param server host:port; empty: the name servers of the machine
   */
  JndiDns(String server) {
    this.url = server.isEmpty() ? "dns:" : "dns://" + server;
  }

  // The interface defines the type of the environment. The danger of JNDI, objects that are created
  // from responses, does not apply: attributes of DNS are texts.
  @SuppressWarnings({"JdkObsolete", "BanJNDI"})
  @Override
  public List<Target> srv(String name) throws IOException {
    Hashtable<String, String> environment = new Hashtable<>();
    environment.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory");
    environment.put(Context.PROVIDER_URL, url);
    try {
      DirContext context = new InitialDirContext(environment);
      try {
        Attribute found = context.getAttributes(name, new String[] {"SRV"}).get("SRV");
        return found == null ? List.of() : targets(found);
      } finally {
        context.close();
      }
    } catch (NameNotFoundException none) {
      return List.of();
    } catch (NamingException failed) {
      throw new IOException("lookup " + name + " fails: " + failed, failed);
    }
  }

  private static List<Target> targets(Attribute records) throws NamingException, IOException {
    List<Target> targets = new ArrayList<>();
    NamingEnumeration<?> all = records.getAll();
    while (all.hasMore()) {
      String record = String.valueOf(all.next());
      // Priority, weight, port, target.
      String[] parts = record.split(" ", -1);
      if (parts.length != 4 || !parts[2].matches("\\d{1,5}")) {
        throw new IOException("no SRV record: " + record);
      }
      String host = parts[3];
      if (host.equals(".")) {
        // RFC 2782: a dot as the target means that the service is not available.
        continue;
      }
      targets.add(
          new Target(
              host.endsWith(".") ? host.substring(0, host.length() - 1) : host,
              Integer.parseInt(parts[2])));
    }
    return targets;
  }

  @Override
  public Set<InetAddress> addresses(String host) {
    try {
      return Set.of(InetAddress.getAllByName(host));
    } catch (UnknownHostException unknown) {
      return Set.of();
    }
  }
}
