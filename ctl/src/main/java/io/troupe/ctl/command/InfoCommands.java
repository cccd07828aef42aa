package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.cli.HelpText;
import io.troupe.ctl.text.Quoted;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** What needs no server: version, options, completion. */
final class InfoCommands {
  private InfoCommands() {}

  /** Prints the version in etcdctl's form. */
  @Command(name = "version", description = "Prints the version of etcdctl that ctl corresponds to")
  static final class Version implements Runnable {
    private final Session session;

    Version(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      EtcdVersion version = EtcdVersion.ofBuild();
      session.console().line("etcdctl version: " + version.complete());
      session.console().line("API version: " + version.api());
    }
  }

  /** Prints the global flags. */
  @Command(name = "options", description = "Prints the global flags")
  static final class Options implements Runnable {
    private final Session session;

    Options(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      session.console().line("The following options can be passed to any command:\n");
      session.console().print(HelpText.globalFlags(Commands.root(session)));
    }
  }

  /** Prints a script that completes commands and flags. */
  @Command(
      name = "completion",
      customSynopsis = "completion [bash|zsh|fish]",
      description = {
        "Prints a completion script",
        "",
        "bash: source <(ctl completion bash)",
        "zsh:  ctl completion zsh > \"${fpath[1]}/_ctl\"",
        "fish: ctl completion fish > ~/.config/fish/completions/ctl.fish"
      })
  static final class Completion implements Runnable {
    private final Session session;

    Completion(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      if (session.args().size() != 1) {
        throw new CtlException(
            ExitCode.ERROR, "accepts 1 arg(s), received " + session.args().size());
      }
      CommandLine root = Commands.root(session);
      session
          .console()
          .print(
              switch (session.args().get(0)) {
                case "bash" -> CompletionScripts.bash(root);
                case "zsh" -> CompletionScripts.zsh(root);
                case "fish" -> CompletionScripts.fish(root);
                default ->
                    throw new CtlException(
                        ExitCode.ERROR,
                        "invalid argument "
                            + Quoted.quote(session.args().get(0))
                            + " for \"ctl completion\"");
              });
    }
  }
}
