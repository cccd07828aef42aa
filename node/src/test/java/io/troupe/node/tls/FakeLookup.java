package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A resolver with configured results that records its queries. Thread-safe. */
final class FakeLookup implements NameLookup {
  private final Map<InetAddress, List<String>> names = new HashMap<>();
  private final Map<String, List<InetAddress>> addresses = new HashMap<>();

  /** Each query, in order. */
  final List<String> asked = Collections.synchronizedList(new ArrayList<>());

  static InetAddress address(String text) {
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(e);
    }
  }

  FakeLookup reverse(String address, String... known) {
    names.put(address(address), List.of(known));
    return this;
  }

  FakeLookup forward(String name, String... known) {
    addresses.put(name, List.of(known).stream().map(FakeLookup::address).toList());
    return this;
  }

  @Override
  public List<String> names(InetAddress address) throws UnknownHostException {
    return answer(names.get(address), address.getHostAddress());
  }

  @Override
  public List<InetAddress> addresses(String name) throws UnknownHostException {
    return answer(addresses.get(name), name);
  }

  private <T> T answer(@Nullable T known, String question) throws UnknownHostException {
    asked.add(question);
    if (known == null) {
      throw new UnknownHostException(question + ": unknown host");
    }
    return known;
  }
}
