package io.troupe.ctl;

import io.grpc.Status;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.EnvironmentFlags;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.cli.FlagParser;
import io.troupe.ctl.cli.GlobalOptions;
import io.troupe.ctl.cli.HelpText;
import io.troupe.ctl.cli.UsageException;
import io.troupe.ctl.client.ClientSettings;
import io.troupe.ctl.client.Endpoint;
import io.troupe.ctl.client.LoginException;
import io.troupe.ctl.client.Reachability;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.command.Commands;
import io.troupe.ctl.command.Session;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ExecutionException;
import picocli.CommandLine.ParseResult;

/** Runs one command line. */
public final class Ctl {
  /** Commands that need no server ignore the variables. */
  private static final Set<String> LOCAL = Set.of("version", "options", "completion");

  private final Console console;

  public Ctl(Console console) {
    this.console = console;
  }

  /**
   * @param args without the name of the program
   * @return the exit code
   */
  public int run(List<String> args) {
    try (Session session = new Session(console, new GlobalOptions())) {
      try {
        run(args, session);
        return ExitCode.SUCCESS;
      } catch (UsageException e) {
        console.error("Error: " + e.getMessage());
        console.errorPart(
            e.isWithUsage()
                ? HelpText.usage(e.command())
                : "Run '" + e.command().getCommandName() + " --help' for usage.\n");
        return ExitCode.ERROR;
      } catch (CtlException e) {
        if (!e.isSilent()) {
          console.error("Error: " + e.getMessage());
        }
        return e.exitCode();
      } catch (LoginException e) {
        explain(session, e.getCause());
        console.error("Error: " + e.getMessage());
        return ExitCode.BAD_CONNECTION;
      } catch (RpcException e) {
        explain(session, e);
        console.error("Error: " + e.getMessage());
        return ExitCode.ERROR;
      }
    } catch (UncheckedIOException e) {
      // Standard output is closed, for example by head: there is nowhere to report.
      return ExitCode.IO;
    } finally {
      flush();
    }
  }

  private void flush() {
    try {
      console.flush();
    } catch (UncheckedIOException e) {
      // The reader has gone.
      return;
    }
  }

  private void run(List<String> args, Session session) {
    CommandLine root = Commands.root(session, args);
    FlagParser.Parsed parsed = FlagParser.parse(root, args);
    session.accept(parsed);
    CommandLine command = parsed.command();
    if (parsed.help() || !command.getSubcommands().isEmpty()) {
      console.print(HelpText.help(command));
      return;
    }
    List<String> line = new ArrayList<>();
    if (!LOCAL.contains(command.getCommandName())) {
      line.addAll(EnvironmentFlags.read(root, parsed.given(), console));
    }
    line.addAll(parsed.line());
    ParseResult result = root.parseArgs(line.toArray(String[]::new));
    if (session.isDebug()) {
      line.forEach(console::error);
    }
    try {
      var unused = new CommandLine.RunLast().execute(result);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw e;
    }
  }

  /** The time limit alone does not show why nothing responded. */
  private void explain(Session session, @Nullable Throwable failure) {
    if (!(failure instanceof RpcException rpc) || rpc.code() != Status.Code.DEADLINE_EXCEEDED) {
      return;
    }
    ClientSettings settings = session.settings();
    for (String text : settings.endpoints()) {
      String problem = Reachability.problem(Endpoint.parse(text), settings.tls());
      if (problem != null) {
        console.error("Warning: endpoint " + text + ": " + problem);
      }
    }
  }
}
