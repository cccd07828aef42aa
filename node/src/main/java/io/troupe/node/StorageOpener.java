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
final class StorageOpener {
  private final CompletableFuture<MemberFiles> files = new CompletableFuture<>();
  private final Thread thread;

  /** Whether the thread may be interrupted: later it is with files, which would be half open. */
  private boolean identifying = true;

  private boolean abandoned;

  private StorageOpener(
      DataDir dataDir, NodeSettings node, MemberSettings settings, PeerQueries peers) {
    this.thread =
        new Thread(
            () -> {
              try {
                identify(dataDir, node, peers);
                NativeLibrary.load(node.cacheDir());
                files.complete(open(dataDir, node, settings, peers));
              } catch (InterruptedException | RuntimeException | Error failure) {
                files.completeExceptionally(failure);
              }
            },
            "open");
  }

  /**
   * Begins. A member without data gets an identity first.
   *
   * @param peers asks other members who this one is
   */
  static StorageOpener begin(
      DataDir dataDir, NodeSettings node, MemberSettings settings, PeerQueries peers) {
    StorageOpener opening = new StorageOpener(dataDir, node, settings, peers);
    opening.thread.start();
    return opening;
  }

  /** What comes of it. */
  CompletableFuture<MemberFiles> files() {
    return files;
  }

  /**
   * The files are not needed any more. A search for other members stops; work on the disk runs to
   * its end.
   *
   * @return done when nothing is open
   */
  synchronized CompletableFuture<Void> abandon() {
    abandoned = true;
    if (identifying) {
      thread.interrupt();
    }
    // Why it failed, if it did, is logged elsewhere.
    return files.handle(
        (opened, failure) -> {
          if (opened != null) {
            opened.close();
          }
          return null;
        });
  }

  private void identify(DataDir dataDir, NodeSettings node, PeerQueries peers)
      throws InterruptedException {
    try {
      Bootstrap.identify(dataDir, node, peers);
    } finally {
      identified();
    }
    synchronized (this) {
      if (abandoned) {
        throw new InterruptedException("the start is given up");
      }
    }
  }

  private synchronized void identified() {
    identifying = false;
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
        new ForceNewClusterCheck(dataDir, peers, Bootstrap.ASK_PEER)::requireSilence);
  }

  /**
   * Without a limit: reading a long log, copying a snapshot or waiting for other members takes as
   * long as it takes.
   *
   * @throws CompletionException with what went wrong
   */
  MemberFiles await() throws InterruptedException {
    try {
      return files.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw new CompletionException(cause == null ? e : cause);
    }
  }
}
