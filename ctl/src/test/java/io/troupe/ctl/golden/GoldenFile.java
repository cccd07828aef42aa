package io.troupe.ctl.golden;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A golden file: blocks separated by empty lines. A block has the command ({@code $}), lines of
 * standard input ({@code <}), the number of lines after which the command is stopped ({@code ~}),
 * and then what etcdctl prints: standard output ({@code |}), standard error ({@code !}) and its
 * exit code unless it is 0 ({@code =}).
 */
record GoldenFile(Path file, List<Block> blocks) {
  private static final Pattern WORD =
      Pattern.compile("'([^']*)'|\"((?:[^\"\\\\]|\\\\.)*)\"|(\\S+)");

  /**
   * @param stopAfter lines of output after which the command is stopped; -1: it ends by itself
   * @param expected lines with their prefixes
   */
  record Block(String command, List<String> input, int stopAfter, List<String> expected) {
    /** The words of the command. */
    List<String> words() {
      List<String> words = new ArrayList<>();
      Matcher matcher = WORD.matcher(command);
      while (matcher.find()) {
        if (matcher.group(1) != null) {
          words.add(matcher.group(1));
        } else if (matcher.group(2) != null) {
          words.add(matcher.group(2).replaceAll("\\\\(.)", "$1"));
        } else {
          words.add(matcher.group(3));
        }
      }
      return words;
    }

    Block with(List<String> output) {
      return new Block(command, input, stopAfter, output);
    }

    String text() {
      StringBuilder text = new StringBuilder("$ " + command + "\n");
      input.forEach(line -> text.append(("< " + line).stripTrailing()).append('\n'));
      if (stopAfter >= 0) {
        text.append("~ ").append(stopAfter).append('\n');
      }
      expected.forEach(line -> text.append(line).append('\n'));
      return text.toString();
    }
  }

  static GoldenFile read(Path file) throws IOException {
    List<Block> blocks = new ArrayList<>();
    String command = null;
    List<String> input = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    int stopAfter = -1;
    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    lines.add("");
    for (String line : lines) {
      if (line.startsWith("$ ")) {
        command = line.substring(2);
      } else if (line.startsWith("<")) {
        input.add(line.length() < 2 ? "" : line.substring(2));
      } else if (line.startsWith("~ ")) {
        stopAfter = Integer.parseInt(line.substring(2));
      } else if (!line.isEmpty()) {
        expected.add(line);
      } else if (command != null) {
        blocks.add(new Block(command, List.copyOf(input), stopAfter, List.copyOf(expected)));
        command = null;
        input.clear();
        expected.clear();
        stopAfter = -1;
      }
    }
    return new GoldenFile(file, List.copyOf(blocks));
  }

  void write(List<Block> recorded) throws IOException {
    Files.writeString(file, String.join("\n", recorded.stream().map(Block::text).toList()));
  }
}
