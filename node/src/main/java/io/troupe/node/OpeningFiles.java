package io.troupe.node;

import io.troupe.actors.member.MemberFiles;
import io.troupe.actors.member.MemberSettings;
import io.troupe.metrics.MemberMetrics;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.store.NativeLibrary;
import io.troupe.protocol.PeerQueries;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Opens what a member has on its disk, on a thread of its own. */
final class OpeningFiles {
  private OpeningFiles() {}

  /**
   * Begins. Whoever starts without data is given an identity first.
   *
   * @param peers asks other members who this one is
   */
  static CompletableFuture<MemberFiles> begin(
      DataDir dataDir, NodeSettings node, MemberSettings settings, PeerQueries peers) {
    CompletableFuture<MemberFiles> opening = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                Bootstrap.identify(dataDir, node, peers);
                NativeLibrary.load(node.cacheDir());
                opening.complete(open(dataDir, node, settings, peers));
              } catch (InterruptedException | RuntimeException | Error failure) {
                opening.completeExceptionally(failure);
              }
            },
            "open");
    thread.start();
    return opening;
  }

  private static MemberFiles open(
      DataDir dataDir, NodeSettings node, MemberSettings settings, PeerQueries peers) {
    MemberMetrics metrics = new MemberMetrics(node.http().extensiveMetrics());
    if (!node.forceNewCluster()) {
      return MemberFiles.open(dataDir, settings, metrics);
    }
    return MemberFiles.openAlone(
        dataDir,
        settings,
        metrics,
        new LostMembers(dataDir, peers, Bootstrap.ASK_PEER)::requireSilence);
  }

  /**
   * Without a limit: reading a long log or copying a snapshot takes as long as it takes.
   *
   * @throws CompletionException with what went wrong
   */
  static MemberFiles await(CompletableFuture<MemberFiles> opening) throws InterruptedException {
    try {
      return opening.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw new CompletionException(cause == null ? e : cause);
    }
  }
}
