package io.troupe.node;

import com.typesafe.config.Config;
import io.troupe.actors.member.MemberRemovedException;
import io.troupe.model.Invariant;
import io.troupe.mvcc.StoreException;
import io.troupe.node.flags.EtcdCommandLine;
import io.troupe.node.flags.FlagException;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.store.StoreFailure;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.WalCorruptException;
import io.troupe.persistence.wal.WalException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code java -jar node.jar -Dconfig.file=node.conf}: runs one member until it is told to stop or
 * cannot go on.
 */
public final class NodeMain {
  private NodeMain() {}

  /**
   * Runs.
   *
   * @param args {@code -Dkey=value}, the same as before {@code -jar}; or {@code etcd} and etcd's
   *     own flags
   */
  public static void main(String[] args) {
    Config config;
    ArchiveTraining training;
    boolean etcd = args.length > 0 && args[0].equals("etcd");
    List<String> notices = List.of();
    boolean json;
    try {
      if (etcd) {
        notices = etcdFlags(args);
      } else {
        Launch.properties(args);
      }
      ProcessLogging.begin();
      prepare();
      config = Launch.configuration();
      training = ArchiveTraining.asked(config);
      if (training != null) {
        config = training.config();
      }
      NodeSettings.Log wanted = NodeSettings.of(config).log();
      json = wanted.format().equals("json");
      ProcessLogging.configure(wanted);
    } catch (FlagException e) {
      if (e.status() == 1) {
        refuse(e.text());
      } else {
        // Usage, as etcd's: for a reader, not for a log.
        (e.status() == 0 ? System.out : System.err).println(e.text());
      }
      System.exit(e.status());
      return;
    } catch (StartException e) {
      if (etcd) {
        refuse(String.valueOf(e.getMessage()));
      } else {
        System.err.println(e.getMessage());
      }
      // F3
      System.exit(etcd && e.exitCode() == ExitCode.CONFIGURATION ? 1 : e.exitCode().code());
      return;
    }
    Logger log = LoggerFactory.getLogger(NodeMain.class);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, failure) -> log.error("a thread ended thread={}", thread.getName(), failure));
    // A loop: else the log names a class of the library as their source.
    for (String notice : notices) {
      log.warn(notice);
    }
    Supervisor supervisor = Supervisor.ofProcess();
    RunningNode node;
    try {
      // Who sees that it is ready may end it at once, and shall find it prepared.
      node =
          RunningNode.start(
              config,
              failure -> end(log, failure),
              made -> made.whenProcessEnds(() -> stop(log, made, supervisor)));
      if (training != null) {
        training.startSecond(failure -> end(log, failure));
      }
    } catch (RuntimeException failure) {
      end(log, failure);
      return;
    }
    try {
      node.awaitReady();
    } catch (InterruptedException | StartException stopped) {
      // Told to stop before it was ready: the hook above says so, and ends it.
      return;
    }
    supervisor.ready();
    if (!json) {
      System.out.println("ready to serve client requests");
      System.out.flush();
    }
    if (training != null) {
      train(log, node, training);
    }
  }

  /** What follows "etcd" are etcd's flags (docs/flags.md); the environment counts too. */
  private static List<String> etcdFlags(String[] args) {
    EtcdCommandLine line =
        EtcdCommandLine.read(Arrays.asList(args).subList(1, args.length), System.getenv());
    line.properties().forEach(System::setProperty);
    return line.notices();
  }

  /**
   * A wrong value ends a start with a line of the log in its default form: what the form shall be
   * is not known yet.
   */
  private static void refuse(String text) {
    ProcessLogging.begin();
    ProcessLogging.json();
    LoggerFactory.getLogger(NodeMain.class)
        .atError()
        .setMessage("failed to verify flags")
        .addKeyValue("error", text)
        .log();
  }

  private static void train(Logger log, RunningNode node, ArchiveTraining training) {
    try {
      training.run(node);
    } catch (RuntimeException failure) {
      end(log, failure);
      return;
    }
    System.exit(0);
  }

  /** The log's library takes as long to load as the configuration to read. */
  private static void prepare() {
    Thread thread = new Thread(ChronicleWal::prepare, "prepare");
    thread.setDaemon(true);
    thread.start();
  }

  private static void stop(Logger log, RunningNode node, Supervisor supervisor) {
    log.info("stopping");
    supervisor.stopping();
    node.close();
    log.info("stopped");
    if (ProcessHandle.current().pid() == 1) {
      // F10: the first process of a container has no parent that asks for the signal.
      Runtime.getRuntime().halt(0);
    }
  }

  /** One line, and out: whatever is still running must not answer anybody any more. */
  private static void end(Logger log, Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof MemberRemovedException) {
      // Not a failure: a supervisor must not start it again (M6).
      log.warn("stopping exit-code=0 reason={}", cause.getMessage());
      // The end waits for the rooms, and this is one of their threads.
      new Thread(() -> Runtime.getRuntime().exit(0), "removed").start();
      return;
    }
    ExitCode code = code(cause);
    if (code == ExitCode.UNEXPECTED || code == ExitCode.INVARIANT) {
      log.error("stopping exit-code={} reason={}", code.code(), cause.toString(), cause);
    } else {
      log.error("stopping exit-code={} reason={}", code.code(), cause.getMessage());
    }
    Runtime.getRuntime().halt(code.code());
  }

  private static ExitCode code(Throwable cause) {
    if (cause instanceof StartException start) {
      return start.exitCode();
    }
    if (cause instanceof DataDirException dataDir) {
      return switch (dataDir.reason()) {
        case IN_USE -> ExitCode.DATA_IN_USE;
        case LOG_ELSEWHERE -> ExitCode.CONFIGURATION;
        case NOT_WRITABLE -> ExitCode.DISK_FAILURE;
        case WRONG_VERSION, FOREIGN, CORRUPT -> ExitCode.DATA_CORRUPT;
      };
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
