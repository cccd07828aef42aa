package io.troupe.ctl.command;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.cli.FlagParser;
import io.troupe.ctl.cli.UsageException;
import io.troupe.ctl.text.KeyRanges;
import io.troupe.ctl.text.Quoted;
import io.troupe.ctl.text.RawArguments;
import io.troupe.ctl.text.Words;
import io.troupe.grpc.api.WatchCreateRequest;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prints the changes of keys, and runs a command for each. */
@Command(
    name = "watch",
    customSynopsis =
        "watch [options] [key or prefix] [range_end] [--] [exec-command arg1 arg2 ...]",
    description = "Prints the changes of keys")
final class WatchCommand implements Runnable {
  private static final String ARGUMENTS = "bad number of arguments";

  private final Session session;

  @Option(
      names = {"-i", "--interactive"},
      arity = "1",
      description = "read watches from standard input")
  boolean interactive;

  @Option(names = "--prefix", arity = "1", description = "all keys that start with the key")
  boolean prefix;

  @Option(names = "--rev", paramLabel = "int", description = "revision of the first change")
  long rev;

  @Option(names = "--prev-kv", arity = "1", description = "also print the pair before the change")
  boolean prevKv;

  @Option(
      names = "--progress-notify",
      arity = "1",
      description = "print the revision from time to time when no key changes")
  boolean progressNotify;

  WatchCommand(Session session) {
    this.session = session;
  }

  @Override
  public void run() {
    String key = session.console().variable("ETCDCTL_WATCH_KEY");
    String end = session.console().variable("ETCDCTL_WATCH_RANGE_END");
    if (key.isEmpty() && !end.isEmpty()) {
      throw CtlException.arguments(
          "ETCDCTL_WATCH_KEY is empty but got ETCDCTL_WATCH_RANGE_END=" + Quoted.quote(end));
    }
    List<String> fromEnvironment =
        key.isEmpty() ? List.of() : end.isEmpty() ? List.of(key) : List.of(key, end);
    if (interactive) {
      readWatches(fromEnvironment);
      return;
    }
    Watcher watcher = watcher(session.args(), session.dash(), fromEnvironment);
    try (WatchStream stream = new WatchStream(session)) {
      stream.add(watcher);
      stream.awaitEnd();
    }
    throw new CtlException(ExitCode.INTERRUPTED, "watch is canceled by the server");
  }

  private void readWatches(List<String> fromEnvironment) {
    try (WatchStream stream = new WatchStream(session)) {
      while (true) {
        ByteString read = session.console().readLine();
        if (read == null) {
          throw new CtlException(ExitCode.INVALID_INPUT, "error reading watch request line: EOF");
        }
        line(RawArguments.decode(read), fromEnvironment, stream);
      }
    }
  }

  private void line(String line, List<String> fromEnvironment, WatchStream stream) {
    List<String> words;
    try {
      words = Words.split(line);
    } catch (IllegalArgumentException e) {
      throw new CtlException(ExitCode.INVALID_INPUT, String.valueOf(e.getMessage()));
    }
    String command = words.isEmpty() ? "" : words.get(0);
    if (words.isEmpty()) {
      error("Invalid command: " + line + " (watch and progress supported)");
    } else if (command.equals("progress")) {
      stream.requestProgress();
    } else if (!command.equals("watch")) {
      error("Invalid command " + line + " (only support watch)");
    } else if (words.size() < 2 && fromEnvironment.isEmpty()) {
      error("Invalid command " + line + " (command type or key is not provided)");
    } else {
      WatchCommand parsed = new WatchCommand(session);
      CommandLine flags = Commands.configure(new CommandLine(parsed));
      FlagParser.Parsed result;
      try {
        result = FlagParser.parse(flags, words.subList(1, words.size()));
        var unused = flags.parseArgs(result.line().toArray(String[]::new));
      } catch (UsageException e) {
        throw CtlException.arguments(String.valueOf(e.getMessage()));
      }
      parsed.progressNotify |= progressNotify;
      stream.add(parsed.watcher(result.arguments(), result.dash(), fromEnvironment));
    }
  }

  private void error(String text) {
    session.console().error(text);
  }

  /**
   * What the arguments select.
   *
   * @param dash number of arguments before the command to run; -1 without one
   */
  Watcher watcher(List<String> args, int dash, List<String> fromEnvironment) {
    List<String> keys = new ArrayList<>(dash < 0 ? args : args.subList(0, dash));
    List<String> command = dash < 0 ? List.of() : args.subList(dash, args.size());
    if (dash >= 0 && command.isEmpty()) {
      throw CtlException.arguments(ARGUMENTS + " (found separator --, but no commands)");
    }
    if (!keys.isEmpty() && !fromEnvironment.isEmpty()) {
      throw CtlException.arguments(ARGUMENTS + " (found conflicting environment key)");
    }
    keys.addAll(fromEnvironment);
    if (keys.isEmpty()) {
      throw CtlException.arguments(ARGUMENTS);
    }
    ByteString key = RawArguments.encode(keys.get(0));
    ByteString end = ByteString.EMPTY;
    if (keys.size() == 2) {
      if (prefix) {
        throw CtlException.arguments("`range_end` and `--prefix` are mutually exclusive");
      }
      end = RawArguments.encode(keys.get(1));
    } else if (prefix) {
      end = KeyRanges.prefixEnd(key);
      key = key.isEmpty() ? KeyRanges.OPEN : key;
    }
    return new Watcher(
        WatchCreateRequest.newBuilder()
            .setKey(key)
            .setRangeEnd(end)
            .setStartRevision(rev)
            .setPrevKv(prevKv)
            .setProgressNotify(progressNotify)
            .build(),
        List.copyOf(command));
  }

  /** A watch and the command to run for each of its events; an empty command is none. */
  record Watcher(WatchCreateRequest request, List<String> command) {}
}
