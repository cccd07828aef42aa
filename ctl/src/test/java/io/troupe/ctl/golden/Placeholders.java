package io.troupe.ctl.golden;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Replaces what differs between two runs: IDs, addresses, durations, sizes, Raft's numbers. */
final class Placeholders {
  private static final Pattern LEASE_TEXT = Pattern.compile("^lease ([0-9a-f]{16}) granted");
  private static final Pattern LEASE_NUMBER = Pattern.compile("\"ID\" ?: ?(\\d{10,})");
  private static final Pattern LEARNER =
      Pattern.compile("^Member ([ 0-9a-f]{16}) added as learner");

  private final Map<String, String> texts = new LinkedHashMap<>();
  private final Map<String, String> arguments = new LinkedHashMap<>();
  private int leases;

  /** Replaces each text by its placeholder, from now on. */
  void add(String text, String placeholder) {
    texts.put(text, placeholder);
  }

  private void addId(String name, long id) {
    add(Long.toUnsignedString(id), "<" + name + ">");
    // Leases have leading zeros.
    add(String.format(Locale.ROOT, "%016x", id), "<" + name + "-hex>");
    add(Long.toHexString(id), "<" + name + "-hex>");
  }

  void addMember(String name, long id) {
    addId(name, id);
    arguments.put("{" + name + "}", Long.toHexString(id));
  }

  void addCluster(long id) {
    addId("cluster", id);
  }

  /** An argument of the commands, such as a revision. */
  void argument(String name, String value) {
    arguments.put(name, value);
  }

  /** The word with the values of this run. */
  String resolve(String word) {
    String result = word;
    for (Map.Entry<String, String> each : arguments.entrySet()) {
      result = result.replace(each.getKey(), each.getValue());
    }
    return result;
  }

  /** Learns the IDs in the output of a command. */
  void learn(String command, String out) {
    if (command.startsWith("lease grant")) {
      Matcher text = LEASE_TEXT.matcher(out);
      Matcher number = LEASE_NUMBER.matcher(out);
      if (text.find()) {
        addMember("lease" + ++leases, Long.parseUnsignedLong(text.group(1), 16));
      } else if (number.find()) {
        addMember("lease" + ++leases, Long.parseLong(number.group(1)));
      }
    }
    Matcher learner = LEARNER.matcher(out);
    if (learner.find()) {
      addMember("learner", Long.parseUnsignedLong(learner.group(1).strip(), 16));
    }
  }

  /** The lines of standard output. */
  List<String> out(String text) {
    List<String> lines = new ArrayList<>();
    for (String line : lines(text)) {
      lines.add("| " + line(line));
    }
    return lines.stream().map(String::stripTrailing).toList();
  }

  /** The lines of standard error without log lines, warnings of ctl and usage. */
  List<String> err(String text) {
    List<String> lines = new ArrayList<>();
    boolean usage = false;
    for (String line : lines(text)) {
      usage = (usage || line.equals("Usage:")) && !line.startsWith("Error:");
      if (!usage && !line.startsWith("{\"level\"") && !line.startsWith("Warning: endpoint ")) {
        lines.add("! " + line(line.replace("etcdctl", "ctl")));
      }
    }
    return lines.stream().map(String::stripTrailing).toList();
  }

  private static List<String> lines(String text) {
    List<String> lines = new ArrayList<>(List.of(text.split("\n", -1)));
    if (lines.get(lines.size() - 1).isEmpty()) {
      lines.remove(lines.size() - 1);
    }
    return lines;
  }

  private String line(String line) {
    String result = line;
    for (Map.Entry<String, String> each : texts.entrySet()) {
      result = result.replace(each.getKey(), each.getValue());
    }
    if (result.startsWith("ETCD_INITIAL_CLUSTER=")) {
      // In the order of the IDs.
      String members = result.substring(result.indexOf('"') + 1, result.length() - 1);
      result = Stream.of(members.split(",", -1)).sorted().toList().toString();
    }
    if (result.contains("│") || result.contains("─")) {
      result = result.replaceAll("─+", "─").replaceAll(" +", " ");
    }
    return result
        .replaceAll("((?:^Member|cluster) ) *<", "$1<")
        .replaceAll("(\"raft_term\":|\"RaftTerm\" : |raft_?[tT]erm\":)\\d+", "$1<n>")
        .replaceAll("(\"raft(?:Applied)?Index\":|\"Raft(?:Applied)?Index\" : )\\d+", "$1<n>")
        .replaceAll("(\"dbSize(?:InUse)?\":|\"DBSize(?:InUse)?\" : )\\d+", "$1<n>")
        .replaceAll("(\"hash\":|\"Hash\" : )\\d+", "$1<n>")
        .replaceAll("(\"ttl\":)\\d+", "$1<n>")
        .replaceAll("remaining\\(\\d+s\\)", "remaining(<n>s)")
        .replaceAll("(took = |took |\"took\":\"|\"Took\" : )[0-9.]+(?:[nµm]?s)", "$1<time>")
        .replaceAll("│ [0-9.]+[µm]?s │", "│ <time> │")
        .replaceAll("\\b[0-9.]+ [kM]?B\\b", "<size>")
        .replaceAll("\\b\\d+%", "<n>%")
        .replaceAll("((?:true|false), (?:true|false)), \\d+, \\d+, \\d+", "$1, <n>, <n>, <n>")
        .replaceAll(
            "((?:true|false) │ (?:true|false)) │ \\d+ │ \\d+ │ \\d+", "$1 │ <n> │ <n> │ <n>")
        .replaceAll("^(<endpoint>, )\\d+(, \\d+)$", "$1<n>$2")
        .replaceAll("^(│ <endpoint> │ )\\d{5,}( │)", "$1<n>$2")
        .replaceAll("(/|\\\\x2f)[0-9a-f]{14,16}$", "$1<lease>");
  }
}
