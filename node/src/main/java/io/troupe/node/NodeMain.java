package io.troupe.node;

import com.typesafe.config.Config;
import io.troupe.node.config.ConfigLoader;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.config.UsageText;
import io.troupe.node.flags.DeferredLogLine;
import io.troupe.node.flags.EtcdCommandLine;
import io.troupe.node.flags.FlagException;
import io.troupe.node.logging.ProcessLogging;
import io.troupe.node.offline.OfflineCommands;
import io.troupe.node.process.HeapMonitor;
import io.troupe.node.process.OutOfMemoryFilter;
import io.troupe.node.process.ProcessExit;
import io.troupe.node.process.StartException;
import io.troupe.node.process.SystemdNotifier;
import io.troupe.node.process.Version;
import io.troupe.node.process.Watchdog;
import io.troupe.persistence.wal.ChronicleWal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * {@code java -jar node.jar -Dconfig.file=node.conf}: runs one member until the process receives a
 * signal to stop or the member cannot continue.
 */
public final class NodeMain {
  private NodeMain() {}

  /**
   * Runs the member.
   *
   * @param args {@code -Dkey=value}, the same as before {@code -jar}; or {@code etcd} and etcd's
   *     own flags; or a command on files (docs/operations.md)
   */
  public static void main(String[] args) {
    if (OfflineCommands.isCommand(args)) {
      halt(OfflineCommands.run(args));
      return;
    }
    Config config;
    ArchiveTraining training;
    boolean etcd = args.length > 0 && args[0].equals("etcd");
    Optional<String> asked = etcd ? Optional.empty() : UsageText.asked(List.of(args));
    if (asked.isPresent()) {
      System.out.println(asked.get().stripTrailing());
      halt(0);
      return;
    }
    List<DeferredLogLine> notices = List.of();
    NodeSettings settings;
    boolean json;
    try {
      if (etcd) {
        notices = etcdFlags(args);
      } else {
        ConfigLoader.properties(args);
      }
      ProcessLogging.begin();
      prepare();
      config = ConfigLoader.configuration();
      training = ArchiveTraining.asked(config);
      if (training != null) {
        config = training.config();
      }
      settings = NodeSettings.of(config);
      json = settings.log().format().equals("json");
      ProcessLogging.configure(settings.log());
    } catch (FlagException e) {
      if (e.status() == 1) {
        refuse(e.text());
      } else {
        // Usage goes to the console, as in etcd, not to the log.
        (e.status() == 0 ? System.out : System.err).println(e.text());
      }
      halt(e.status());
      return;
    } catch (StartException e) {
      if (etcd) {
        refuse(String.valueOf(e.getMessage()));
      } else {
        System.err.println(e.getMessage());
      }
      halt(ProcessExit.status(e.exitCode(), etcd));
      return;
    }
    Logger log = LoggerFactory.getLogger(NodeMain.class);
    ProcessExit ending = new ProcessExit(log, etcd);
    OutOfMemoryFilter.endWith(ending);
    // An OutOfMemoryError in such a line ends the process too.
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, failure) ->
            log.error("uncaught exception ended thread thread={}", thread.getName(), failure));
    logStart(log, settings);
    notices.forEach(notice -> say(log, notice));
    SystemdNotifier supervisor = SystemdNotifier.ofProcess();
    supervisor.status("opening the data directory");
    RunningNode node;
    try {
      // A supervisor may stop the process as soon as it reports ready: the hook is set before.
      node =
          RunningNode.start(
              config, ending::end, made -> made.whenProcessEnds(() -> stop(log, made, supervisor)));
      if (training != null) {
        training.startSecond(ending::end);
      }
    } catch (RuntimeException failure) {
      ending.end(failure);
      return;
    }
    supervisor.status("waiting until a quorum of the cluster runs");
    try {
      node.awaitReady();
    } catch (InterruptedException | StartException stopped) {
      // The process received a signal before it was ready: the hook above stops the member.
      return;
    }
    supervisor.ready();
    Watchdog.start(supervisor, node::progress);
    HeapMonitor.start();
    if (!json) {
      System.out.println("ready to serve client requests");
      System.out.flush();
    }
    if (training != null) {
      train(ending, node, training);
    }
  }

  /**
   * Ends the process before anything was started. Without hooks: they would fail the thread that
   * loads the library of the write-ahead log, which would print a stack trace.
   */
  private static void halt(int status) {
    System.out.flush();
    System.err.flush();
    Runtime.getRuntime().halt(status);
  }

  /**
   * Reads etcd's flags, which follow the argument "etcd" (docs/flags.md), and etcd's environment
   * variables.
   */
  private static List<DeferredLogLine> etcdFlags(String[] args) {
    EtcdCommandLine line =
        EtcdCommandLine.read(Arrays.asList(args).subList(1, args.length), System.getenv());
    line.properties().forEach(System::setProperty);
    return line.notices();
  }

  /**
   * Reports a wrong value in a log line of the default form, because the configured form is not
   * known yet.
   */
  private static void refuse(String text) {
    ProcessLogging.begin();
    ProcessLogging.json();
    ProcessExit.refuse(LoggerFactory.getLogger(NodeMain.class), text);
  }

  /** The first line of the log: what a report of a problem needs. */
  private static void logStart(Logger log, NodeSettings settings) {
    log.atInfo()
        // Its value has spaces.
        .addKeyValue("heap-origin", HeapMonitor.origin())
        .log(
            "starting Troupe version={} commit={} commit-date={} etcd-version={} java-version={}"
                + " heap-max={} name={} data-dir={}",
            Version.product(),
            Version.commit(),
            Version.commitDate(),
            settings.versions().server(),
            Runtime.version(),
            HeapMonitor.limitMebibytes() + "MiB",
            settings.name(),
            settings.dataDir());
  }

  private static void say(Logger log, DeferredLogLine notice) {
    LoggingEventBuilder line = notice.isWarning() ? log.atWarn() : log.atInfo();
    line = line.setMessage(notice.text());
    for (Map.Entry<String, String> field : notice.fields().entrySet()) {
      line = line.addKeyValue(field.getKey(), field.getValue());
    }
    line.log();
  }

  private static void train(ProcessExit ending, RunningNode node, ArchiveTraining training) {
    try {
      training.run(node);
    } catch (RuntimeException failure) {
      ending.end(failure);
      return;
    }
    ProcessExit.exitNormally("training");
  }

  /**
   * Loads the library of the write-ahead log on another thread: that takes as long as reading the
   * configuration.
   */
  private static void prepare() {
    Thread thread = new Thread(ChronicleWal::prepare, "prepare");
    thread.setDaemon(true);
    thread.start();
  }

  private static void stop(Logger log, RunningNode node, SystemdNotifier supervisor) {
    log.info("stopping cause={}", ProcessExit.cause());
    supervisor.stopping(ProcessExit.cause());
    node.close();
    log.info("stopped");
    if (ProcessHandle.current().pid() == 1) {
      // F10: the first process of a container has no parent that reads the signal from its status.
      Runtime.getRuntime().halt(0);
    }
  }
}
