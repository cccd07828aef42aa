package io.troupe.node.process;

import io.troupe.actors.member.MemberRemovedException;
import io.troupe.actors.member.MemberTooOldException;
import io.troupe.model.Invariant;
import io.troupe.mvcc.StoreException;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.store.StoreFailure;
import io.troupe.persistence.wal.WalCorruptException;
import io.troupe.persistence.wal.WalException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Ends the process when the member cannot start or cannot continue. */
public final class ProcessExit {
  private static final int MAX_CAUSES = 50;

  private static volatile String normalCause = "signal";

  private final Logger log;
  private final boolean etcd;

  /**
   * Creates the exit of this process.
   *
   * @param etcd true if it was started with etcd's flags: a wrong setting then has etcd's exit
   *     status (F3)
   */
  public ProcessExit(Logger log, boolean etcd) {
    this.log = log;
    this.etcd = etcd;
  }

  /** Returns true if the failure or one of its causes is an OutOfMemoryError. */
  public static boolean isOutOfMemory(@Nullable Throwable failure) {
    Throwable cause = failure;
    // Chains of causes may be circular.
    for (int depth = 0; cause != null && depth < MAX_CAUSES; depth++) {
      if (cause instanceof OutOfMemoryError) {
        return true;
      }
      cause = cause.getCause();
    }
    return false;
  }

  /** Logs one line and exits: code that still runs must not respond to clients. */
  public void end(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof MemberRemovedException) {
      // Not a failure: a supervisor must not restart the member (M6).
      log.warn("stopping cause=removed exit-code=0 reason={}", cause.getMessage());
      // The exit waits for the actors, and this is one of their threads.
      new Thread(() -> exitNormally("removed"), "removed").start();
      return;
    }
    ExitCode code = code(cause);
    boolean unforeseen = code == ExitCode.UNEXPECTED || code == ExitCode.INVARIANT;
    if (unforeseen || code == ExitCode.OUT_OF_MEMORY) {
      log.error(
          "stopping cause={} exit-code={} reason={}",
          code.cause(),
          code.code(),
          cause.toString(),
          cause);
    } else if (etcd && code == ExitCode.CONFIGURATION) {
      refuse(log, String.valueOf(cause.getMessage()));
    } else {
      log.error(
          "stopping cause={} exit-code={} reason={}",
          code.cause(),
          code.code(),
          cause.getMessage());
    }
    Runtime.getRuntime().halt(status(code, etcd));
  }

  /**
   * Stops the member in order and exits with status 0.
   *
   * @param cause for the log
   */
  public static void exitNormally(String cause) {
    normalCause = cause;
    Runtime.getRuntime().exit(0);
  }

  /**
   * Returns why the process stops in order: a signal (SIGTERM, SIGINT, SIGHUP) or another cause.
   */
  public static String cause() {
    return normalCause;
  }

  /** Logs a wrong setting, in etcd's words. */
  public static void refuse(Logger log, String text) {
    log.atError().setMessage("failed to verify flags").addKeyValue("error", text).log();
  }

  /** Returns the exit status of the process. */
  public static int status(ExitCode code, boolean etcd) {
    return etcd && code == ExitCode.CONFIGURATION ? 1 : code.code();
  }

  /** Returns the exit code for a failure. */
  static ExitCode code(Throwable cause) {
    if (isOutOfMemory(cause)) {
      return ExitCode.OUT_OF_MEMORY;
    }
    if (cause instanceof StartException start) {
      return start.exitCode();
    }
    if (cause instanceof DataDirException dataDir) {
      return switch (dataDir.reason()) {
        case IN_USE -> ExitCode.DATA_IN_USE;
        case LOG_ELSEWHERE -> ExitCode.CONFIGURATION;
        case UNUSABLE -> ExitCode.DATA_UNUSABLE;
        case NOT_WRITABLE -> ExitCode.DISK_FAILURE;
        case WRONG_VERSION, FOREIGN, CORRUPT -> ExitCode.DATA_CORRUPT;
      };
    }
    if (cause instanceof MemberTooOldException) {
      return ExitCode.VERSION;
    }
    if (cause instanceof WalCorruptException) {
      return ExitCode.DATA_CORRUPT;
    }
    if (cause instanceof WalException) {
      return ExitCode.DISK_FAILURE;
    }
    if (cause instanceof SnapshotException snapshot) {
      return switch (snapshot.kind()) {
        case DAMAGED, WRONG_VERSION -> ExitCode.DATA_CORRUPT;
        case DISK_FULL, IO -> ExitCode.DISK_FAILURE;
      };
    }
    if (cause instanceof StoreException store) {
      return switch (StoreFailure.of(store)) {
        case CORRUPTION -> ExitCode.DATA_CORRUPT;
        case DISK_FULL, IO -> ExitCode.DISK_FAILURE;
        case OTHER -> ExitCode.UNEXPECTED;
      };
    }
    if (cause instanceof Invariant.Broken) {
      return ExitCode.INVARIANT;
    }
    return ExitCode.UNEXPECTED;
  }
}
