package io.troupe.node;

import com.typesafe.config.Config;
import io.troupe.node.flags.DeferredLogLine;
import io.troupe.node.flags.EtcdCommandLine;
import io.troupe.node.flags.FlagException;
import io.troupe.persistence.wal.ChronicleWal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * {@code java -jar node.jar -Dconfig.file=node.conf}: runs one member until it receives a signal to
 * stop or cannot continue.
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
    List<DeferredLogLine> notices = List.of();
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
      System.exit(ProcessExit.status(e.exitCode(), etcd));
      return;
    }
    Logger log = LoggerFactory.getLogger(NodeMain.class);
    ProcessExit ending = new ProcessExit(log, etcd);
    OutOfMemoryFilter.endWith(ending);
    // An OutOfMemoryError in such a line ends the process too.
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, failure) -> log.error("a thread ended thread={}", thread.getName(), failure));
    notices.forEach(notice -> say(log, notice));
    HeapMonitor.logLimit();
    SystemdNotifier supervisor = SystemdNotifier.ofProcess();
    RunningNode node;
    try {
      // Who sees that it is ready may end it at once, and shall find it prepared.
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
    try {
      node.awaitReady();
    } catch (InterruptedException | StartException stopped) {
      // Told to stop before it was ready: the hook above says so, and ends it.
      return;
    }
    supervisor.ready();
    HeapMonitor.start();
    if (!json) {
      System.out.println("ready to serve client requests");
      System.out.flush();
    }
    if (training != null) {
      train(ending, node, training);
    }
  }

  /** What follows "etcd" are etcd's flags (docs/flags.md); the environment counts too. */
  private static List<DeferredLogLine> etcdFlags(String[] args) {
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
    ProcessExit.refuse(LoggerFactory.getLogger(NodeMain.class), text);
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
    System.exit(0);
  }

  /** The log's library takes as long to load as the configuration to read. */
  private static void prepare() {
    Thread thread = new Thread(ChronicleWal::prepare, "prepare");
    thread.setDaemon(true);
    thread.start();
  }

  private static void stop(Logger log, RunningNode node, SystemdNotifier supervisor) {
    log.info("stopping");
    supervisor.stopping();
    node.close();
    log.info("stopped");
    if (ProcessHandle.current().pid() == 1) {
      // F10: the first process of a container has no parent that asks for the signal.
      Runtime.getRuntime().halt(0);
    }
  }
}
