package io.troupe.actors.peers;

import io.troupe.model.NodeId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the members of this cluster are. Filled from outside, as a whole, whenever the membership
 * changes. Thread-safe.
 *
 * <p>A member whose log is behind does not know those who joined later, but one of them may lead.
 * So the address that a stranger of the same cluster names is used until the membership knows
 * better.
 */
public final class PeerDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(PeerDirectory.class);
  private static final int MAX_STRANGERS = 64;

  private record Known(
      Map<NodeId, List<String>> urls, Set<NodeId> removed, Set<PeerAddress> addresses) {}

  private final Map<NodeId, String> strangers = new ConcurrentHashMap<>();
  private volatile Known known = new Known(Map.of(), Set.of(), Set.of());

  /**
   * Replaces what is known.
   *
   * @param urls peer URLs of each member, sorted as text; the first one is used
   * @param removed members that left for good
   */
  public void replace(Map<NodeId, List<String>> urls, Set<NodeId> removed) {
    Map<NodeId, List<String>> copy = new HashMap<>();
    urls.forEach((member, list) -> copy.put(member, List.copyOf(list)));
    known = new Known(Map.copyOf(copy), Set.copyOf(removed), addresses(copy));
    strangers.keySet().removeAll(copy.keySet());
  }

  private static Set<PeerAddress> addresses(Map<NodeId, List<String>> urls) {
    Set<PeerAddress> addresses = new HashSet<>();
    for (List<String> ofOne : urls.values()) {
      for (String url : ofOne) {
        try {
          addresses.add(PeerAddress.of(url));
        } catch (IllegalArgumentException e) {
          LOG.debug("bad address url={} reason={}", url, e.getMessage());
        }
      }
    }
    return Set.copyOf(addresses);
  }

  /** True if one of the members' peer URLs has that address. */
  public boolean isMembers(PeerAddress address) {
    return known.addresses().contains(address);
  }

  /** Members and their URLs, as given last; immutable, ascending. */
  public Map<NodeId, List<String>> members() {
    return new TreeMap<>(known.urls());
  }

  /** True if it is a member, as far as is known here. */
  boolean isMember(NodeId id) {
    return known.urls().containsKey(id);
  }

  /** Peer URLs of a member; empty if it is none, as far as is known here. */
  List<String> urlsOf(NodeId id) {
    return known.urls().getOrDefault(id, List.of());
  }

  /** The URL to reach {@code member} at, or null if nobody said. */
  public @Nullable String urlOf(NodeId member) {
    List<String> urls = known.urls().get(member);
    return urls == null || urls.isEmpty() ? strangers.get(member) : urls.get(0);
  }

  /** True if the member left for good. */
  public boolean isRemoved(NodeId member) {
    return known.removed().contains(member);
  }

  /** A member of this cluster said where it is. Only used while nobody else says so. */
  void learn(NodeId member, String url) {
    if (!known.urls().containsKey(member)
        && !url.equals(strangers.get(member))
        && (strangers.size() < MAX_STRANGERS || strangers.containsKey(member))) {
      strangers.put(member, url);
    }
  }
}
