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
 * Peer URLs of the members of this cluster. Replaced as a whole whenever the membership changes.
 * Thread-safe.
 *
 * <p>A member with a lagging log does not know the members that joined later, but one of them may
 * lead. So the address that an unknown member of the same cluster announces is used until the
 * membership lists it.
 */
public final class PeerDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(PeerDirectory.class);
  private static final int MAX_ANNOUNCED = 64;

  private record Known(
      Map<NodeId, List<String>> urls, Set<NodeId> removed, Set<PeerAddress> addresses) {}

  private final Map<NodeId, String> announced = new ConcurrentHashMap<>();
  private volatile Known known = new Known(Map.of(), Set.of(), Set.of());

  /**
   * Replaces what is known.
   *
   * @param urls peer URLs of each member, sorted as text; the first one is used
   * @param removed permanently removed members
   */
  public void replace(Map<NodeId, List<String>> urls, Set<NodeId> removed) {
    Map<NodeId, List<String>> copy = new HashMap<>();
    urls.forEach((member, list) -> copy.put(member, List.copyOf(list)));
    known = new Known(Map.copyOf(copy), Set.copyOf(removed), addresses(copy));
    announced.keySet().removeAll(copy.keySet());
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

  /** The peer URL of {@code member}, or null if unknown. */
  public @Nullable String urlOf(NodeId member) {
    List<String> urls = known.urls().get(member);
    return urls == null || urls.isEmpty() ? announced.get(member) : urls.get(0);
  }

  /** True if the member was permanently removed. */
  public boolean isRemoved(NodeId member) {
    return known.removed().contains(member);
  }

  /** A member of this cluster announced its URL. Only used while the membership has none for it. */
  void learn(NodeId member, String url) {
    if (!known.urls().containsKey(member)
        && !url.equals(announced.get(member))
        && (announced.size() < MAX_ANNOUNCED || announced.containsKey(member))) {
      announced.put(member, url);
    }
  }
}
