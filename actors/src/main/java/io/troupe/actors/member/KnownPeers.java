package io.troupe.actors.member;

import io.troupe.actors.peers.PeerDirectory;
import io.troupe.machine.StateView;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the directory of peers equal to the applied membership. Until there is one, the directory
 * contains the members that the identity lists. Called by one thread at a time.
 */
final class KnownPeers {
  private static final Logger LOG = LoggerFactory.getLogger(KnownPeers.class);

  private final PeerDirectory directory;
  private final NodeId self;
  private final String url;
  private @Nullable Map<NodeId, List<String>> last;

  KnownPeers(PeerDirectory directory, MemberIdentity identity, String url) {
    this.directory = directory;
    this.self = identity.memberId();
    this.url = url;
    if (directory.members().isEmpty()) {
      directory.replace(identity.members(), Set.of());
    }
  }

  /** Called after each applied batch. Cheap unless the members changed. */
  @SuppressWarnings(
      "ReferenceEquality") // the state makes a new map with each change, and only then
  void update(StateView view) {
    if (view.peerUrls() == last || view.membership().equals(Membership.EMPTY)) {
      return;
    }
    last = view.peerUrls();
    directory.replace(view.peerUrls(), view.membership().removed());
    List<String> own = view.peerUrls().getOrDefault(self, List.of());
    if (!own.isEmpty() && !own.get(0).equals(url)) {
      LOG.warn(
          "advertised peer URL differs from the cluster's, other members cannot reach this member;"
              + " change troupe.initial-advertise-peer-urls peer-url={} advertised={}",
          own.get(0),
          url);
    }
  }
}
