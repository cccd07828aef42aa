package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * Uses the resolver of this machine, including its hosts file. Returns one name of an address, and
 * only if that name resolves back to the address: the owner of an address may give it any name.
 */
final class SystemLookup implements NameLookup {
  @Override
  public List<String> names(InetAddress address) throws UnknownHostException {
    // A copy, because a socket's address may contain the host name that a caller used.
    InetAddress bare = InetAddress.getByAddress(address.getAddress());
    String name = bare.getCanonicalHostName();
    if (name.equals(bare.getHostAddress())) {
      throw new UnknownHostException(name + ": no name resolves back to this address");
    }
    return List.of(name);
  }

  @Override
  public List<InetAddress> addresses(String name) throws UnknownHostException {
    return List.of(InetAddress.getAllByName(name));
  }
}
