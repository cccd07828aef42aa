package io.troupe.ctl.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Scripts with which a shell completes commands and flags. */
final class CompletionScripts {
  private CompletionScripts() {}

  /** For bash, written by picocli; the global flags complete after each command. */
  static String bash(CommandLine root) {
    List<OptionSpec> global = root.getCommandSpec().options();
    inherit(root, global);
    return AutoComplete.bash("ctl", root);
  }

  private static void inherit(CommandLine parent, List<OptionSpec> global) {
    for (CommandLine command : parent.getSubcommands().values()) {
      for (OptionSpec option : global) {
        if (command.getCommandSpec().findOption(option.longestName()) == null) {
          command.getCommandSpec().addOption(OptionSpec.builder(option).build());
        }
      }
      inherit(command, global);
    }
  }

  /** For zsh: a function that selects the words by the commands before the cursor. */
  static String zsh(CommandLine root) {
    StringBuilder script = new StringBuilder("#compdef ctl\n\n_ctl() {\n  local -a words_here\n");
    script.append("  local line=\"\"\n  local word\n");
    script.append("  for word in ${words[2,CURRENT-1]}; do\n");
    script.append("    [[ $word == -* ]] || line+=\" $word\"\n  done\n  case \"$line\" in\n");
    List<String> deepFirst = new ArrayList<>();
    cases(root, "", deepFirst);
    deepFirst.forEach(script::append);
    script.append("  esac\n  _describe 'ctl' words_here\n}\n\ncompdef _ctl ctl\n");
    return script.toString();
  }

  private static void cases(CommandLine command, String path, List<String> out) {
    for (Map.Entry<String, CommandLine> sub : command.getSubcommands().entrySet()) {
      cases(sub.getValue(), path + " " + sub.getKey(), out);
    }
    StringBuilder words = new StringBuilder("    \"" + path + "\"*) words_here=(");
    for (Map.Entry<String, CommandLine> sub : command.getSubcommands().entrySet()) {
      words.append('\n').append(word(sub.getKey(), summary(sub.getValue())));
    }
    for (OptionSpec option : command.getCommandSpec().options()) {
      words.append('\n').append(word(option.longestName(), option.description()[0]));
    }
    out.add(words.append("\n    ) ;;\n").toString());
  }

  private static String word(String word, String text) {
    return "      '" + word + ":" + text.replace("'", "").replace(":", " ") + "'";
  }

  private static String summary(CommandLine command) {
    String[] description = command.getCommandSpec().usageMessage().description();
    return description.length == 0 ? "" : description[0];
  }

  /** For fish: one line for each command and flag. */
  static String fish(CommandLine root) {
    StringBuilder script = new StringBuilder("complete -c ctl -f\n");
    for (OptionSpec option : root.getCommandSpec().options()) {
      fishFlag(script, "", option);
    }
    List<String> top = List.copyOf(root.getSubcommands().keySet());
    for (Map.Entry<String, CommandLine> sub : root.getSubcommands().entrySet()) {
      fishCommand(
          script,
          "not __fish_seen_subcommand_from " + String.join(" ", top),
          sub.getKey(),
          sub.getValue());
      String inside = "__fish_seen_subcommand_from " + sub.getKey();
      sub.getValue().getCommandSpec().options().forEach(option -> fishFlag(script, inside, option));
      List<String> below = List.copyOf(sub.getValue().getSubcommands().keySet());
      for (Map.Entry<String, CommandLine> leaf : sub.getValue().getSubcommands().entrySet()) {
        fishCommand(
            script,
            inside + "; and not __fish_seen_subcommand_from " + String.join(" ", below),
            leaf.getKey(),
            leaf.getValue());
        leaf.getValue()
            .getCommandSpec()
            .options()
            .forEach(
                option ->
                    fishFlag(
                        script,
                        inside + "; and __fish_seen_subcommand_from " + leaf.getKey(),
                        option));
      }
    }
    return script.toString();
  }

  private static void fishCommand(
      StringBuilder script, String condition, String name, CommandLine command) {
    script
        .append("complete -c ctl -n '")
        .append(condition)
        .append("' -a ")
        .append(name)
        .append(" -d '")
        .append(summary(command).replace("'", ""))
        .append("'\n");
  }

  private static void fishFlag(StringBuilder script, String condition, OptionSpec option) {
    script.append("complete -c ctl");
    if (!condition.isEmpty()) {
      script.append(" -n '").append(condition).append("'");
    }
    script
        .append(" -l ")
        .append(option.longestName().substring(2))
        .append(option.type() == boolean.class ? "" : " -r")
        .append(" -d '")
        .append(option.description()[0].replace("'", ""))
        .append("'\n");
  }
}
