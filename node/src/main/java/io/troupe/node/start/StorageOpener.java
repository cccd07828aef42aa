package io.troupe.node.start;

import io.troupe.actors.member.MemberFiles;
import io.troupe.actors.member.MemberSettings;
import io.troupe.metrics.MemberMetrics;
import io.troupe.node.config.NodeSettings;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.store.NativeLibrary;
import io.troupe.protocol.PeerQueries;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Opens the files of a member on a separate thread. */
public final class StorageOpener {
  private final CompletableFuture<MemberFiles> files = new CompletableFuture<>();
  private final Thread thread;

  /**
   * True while the thread may be interrupted: later it opens files, and an interrupt would leave
   * them half open.
   */
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
   * Starts opening. A member without data gets an identity first.
   *
   * @param peers queries other members for the identity of this one
   */
  public static StorageOpener begin(
      DataDir dataDir, NodeSettings node, MemberSettings settings, PeerQueries peers) {
    StorageOpener opening = new StorageOpener(dataDir, node, settings, peers);
    opening.thread.start();
    return opening;
  }

  /** Returns the files, when they are open. */
  public CompletableFuture<MemberFiles> files() {
    return files;
  }

  /**
   * Abandons the opening, because the start failed. Queries to other members stop. Files that are
   * being opened are closed afterwards.
   *
   * @return completes when no file is open
   */
  public synchronized CompletableFuture<Void> abandon() {
    abandoned = true;
    if (identifying) {
      thread.interrupt();
    }
    // The caller of files() reports a failure.
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
        throw new InterruptedException("start abandoned");
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
        new ForceNewClusterCheck(dataDir, peers, Bootstrap.ASK_PEER)::requireNotRunning);
  }

  /**
   * Waits for the files without a time limit: reading a long log, copying a snapshot or waiting for
   * other members may take any time.
   *
   * @throws CompletionException with the cause of a failure
   */
  public MemberFiles await() throws InterruptedException {
    try {
      return files.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw new CompletionException(cause == null ? e : cause);
    }
  }
}
