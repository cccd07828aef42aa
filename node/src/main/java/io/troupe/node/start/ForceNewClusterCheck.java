package io.troupe.node.start;

import io.troupe.model.NodeId;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Checks that the members that force-new-cluster removes are not running. Data that only they have
 * is lost, so none of them may reply (docs/decisions/0125).
 */
final class ForceNewClusterCheck {
  private final long clusterId;
  private final PeerQueries peers;
  private final Duration timeout;

  ForceNewClusterCheck(DataDir dataDir, PeerQueries peers, Duration timeout) {
    MemberIdentity identity =
        Objects.requireNonNull(dataDir.identity(), "the data directory has no identity yet");
    this.clusterId = identity.clusterId();
    this.peers = peers;
    this.timeout = timeout;
  }

  /**
   * Queries all of these members at the same time.
   *
   * @param others their peer URLs, by id
   * @throws StartException CONFIGURATION if one of them replies
   */
  void requireNotRunning(Map<NodeId, List<String>> others) {
    Map<NodeId, List<String>> asked = new TreeMap<>(others);
    Iterator<PeerReply> answers = ask(List.copyOf(asked.values())).iterator();
    for (NodeId member : asked.keySet()) {
      if (isThere(answers.next())) {
        throw new StartException(
            ExitCode.CONFIGURATION,
            "force-new-cluster: nothing was changed, because member "
                + member
                + " at "
                + others.get(member)
                + " is running. If the cluster has a quorum, remove the lost members with"
                + " \"member remove\". If it has none, stop all members and force the one with"
                + " the newest data");
      }
    }
  }

  private List<PeerReply> ask(List<List<String>> members) {
    try {
      return Bootstrap.askAll(peers, members, PeerQuery.MembersQuery.INSTANCE, timeout);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartException(ExitCode.UNEXPECTED, "interrupted while starting", e);
    }
  }

  private boolean isThere(PeerReply answer) {
    // Another process may use the address now.
    return answer instanceof PeerReply.Members known
        ? known.clusterId() == clusterId
        : !answer.equals(Bootstrap.NO_REPLY);
  }
}
