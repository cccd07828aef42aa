package io.troupe.node.start;

import io.troupe.model.NodeId;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.server.MaintenanceTasks;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops the start of a member whose content differs from that of other members (Q5). */
public final class InitialCorruptionCheck {
  private static final Logger LOG = LoggerFactory.getLogger(InitialCorruptionCheck.class);

  /** Timeout, mostly for the hash of the member's own content. */
  private static final int HASHING_MINUTES = 10;

  private InitialCorruptionCheck() {}

  /**
   * Returns if no member reports different content.
   *
   * @throws StartException if other members have different content at the same revision
   */
  public static void require(MaintenanceTasks upkeep, NodeSettings settings)
      throws InterruptedException {
    try {
      List<NodeId> differing =
          upkeep.initialCheck().toCompletableFuture().get(HASHING_MINUTES, TimeUnit.MINUTES);
      if (!differing.isEmpty()) {
        throw new StartException(
            ExitCode.DATA_CORRUPT,
            "found data inconsistency with peers: at the same revision the content of "
                + settings.name()
                + " is not that of members "
                + differing);
      }
    } catch (ExecutionException | TimeoutException unfinished) {
      LOG.warn("initial corruption check did not complete, member starts without it", unfinished);
    }
  }
}
