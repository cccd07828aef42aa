package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * The resolver of this machine, its file of hosts included. It tells one name of an address, and
 * that only if the name leads back to the address: the owner of an address may give it any name.
 */
final class SystemLookup implements NameLookup {
  @Override
  public List<String> names(InetAddress address) throws UnknownHostException {
    // Again, because a socket's address may carry the text that a caller used for it.
    InetAddress bare = InetAddress.getByAddress(address.getAddress());
    String name = bare.getCanonicalHostName();
    if (name.equals(bare.getHostAddress())) {
      throw new UnknownHostException(name + ": no name that leads back to it");
    }
    return List.of(name);
  }

  @Override
  public List<InetAddress> addresses(String name) throws UnknownHostException {
    return List.of(InetAddress.getAllByName(name));
  }
}
