package io.troupe.actors.peers;

import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
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
   * @param urls peer URLs of each member, sorted as text
   * @param removed permanently removed members
   */
  public void replace(Map<NodeId, List<String>> urls, Set<NodeId> removed) {
    Map<NodeId, List<String>> copy = new HashMap<>();
    urls.forEach((member, list) -> copy.put(member, List.copyOf(list)));
    known = new Known(Map.copyOf(copy), Set.copyOf(removed), addresses(copy.values()));
    announced.keySet().removeAll(copy.keySet());
  }

  private static Set<PeerAddress> addresses(Collection<List<String>> urls) {
    Set<PeerAddress> addresses = new HashSet<>();
    urls.forEach(ofOne -> addresses.addAll(addresses(ofOne)));
    return Set.copyOf(addresses);
  }

  private static List<PeerAddress> addresses(List<String> urls) {
    List<PeerAddress> addresses = new ArrayList<>();
    for (String url : urls) {
      try {
        addresses.add(PeerAddress.of(url));
      } catch (IllegalArgumentException e) {
        LOG.debug("bad address url={} reason={}", url, e.getMessage());
      }
    }
    return addresses;
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

  /** URLs at which a member may be reached, in this order; empty if none is known. */
  public List<String> urlsToReach(NodeId member) {
    List<String> urls = known.urls().getOrDefault(member, List.of());
    String learned = announced.get(member);
    return urls.isEmpty() && learned != null ? List.of(learned) : urls;
  }

  /**
   * Addresses of the member that has a URL.
   *
   * @param address of that URL
   * @return begins with the address; never empty
   */
  List<PeerAddress> addressesBeside(String url, PeerAddress address) {
    List<PeerAddress> all = new ArrayList<>(List.of(address));
    for (List<String> ofOne : known.urls().values()) {
      if (ofOne.contains(url)) {
        for (PeerAddress other : addresses(ofOne)) {
          if (!all.contains(other)) {
            all.add(other);
          }
        }
      }
    }
    return all;
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
