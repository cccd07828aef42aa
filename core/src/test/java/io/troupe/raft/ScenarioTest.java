package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Runs the scripts under {@code src/test/resources/scenarios}: a command on each line, its effects
 * indented below. {@code -Drewrite} writes the traces again; a reviewer reads the difference.
 *
 * <pre>
 * cluster VOTERS [LEARNERS]   boots members 1, 2, ...; first command
 * tick ID COUNT               time passes for one member
 * deliver ID [drop=ID]        all messages in flight to a member now, but not those from the dropped one
 * drop ID                     loses all messages in flight to a member
 * force ID                    the disk makes all its writes durable
 * apply ID                    the state machine applies the entries that were sent to it
 * propose ID TEXT...          one batch
 * read ID NUMBER              requests a read index
 * crash ID [SURVIVORS]        crashes; this number of unforced writes reached the disk
 * boot ID                     starts again
 * settle                      delivers, forces and applies until nothing is pending
 * status ID
 * </pre>
 */
class ScenarioTest {
  private static final Path FOLDER = Path.of("src/test/resources/scenarios");

  @TestFactory
  List<DynamicTest> scenarios() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      List<DynamicTest> tests = new ArrayList<>();
      files
          .sorted()
          .forEach(
              f -> tests.add(DynamicTest.dynamicTest(f.getFileName().toString(), () -> run(f))));
      assertThat(tests).isNotEmpty();
      return tests;
    }
  }

  private static void run(Path file) throws IOException {
    String before = Files.readString(file);
    String after = new Script().play(before);
    if (System.getProperty("rewrite") != null) {
      Files.writeString(file, after);
    } else {
      assertThat(after).isEqualTo(before);
    }
  }

  /** One script being played. */
  private static final class Script {
    private static final RaftSettings SETTINGS =
        new RaftSettings(10, 2, 4, 1000, 4, 100_000, 100, 100_000, 0);
    private SimCluster cluster = new SimCluster(1, 0, SETTINGS, true);

    String play(String text) {
      StringBuilder out = new StringBuilder();
      for (String line : text.lines().toList()) {
        if (line.startsWith("  ")) {
          continue;
        }
        out.append(line).append('\n');
        if (!line.isBlank() && !line.startsWith("#")) {
          cluster.trace.clear();
          command(List.of(line.split(" ")));
          cluster.trace.forEach(effect -> out.append("  ").append(effect).append('\n'));
        }
      }
      return out.toString();
    }

    private void command(List<String> words) {
      String verb = words.get(0);
      if (verb.equals("cluster")) {
        int learners = words.size() > 2 ? Integer.parseInt(words.get(2)) : 0;
        cluster = new SimCluster(Integer.parseInt(words.get(1)), learners, SETTINGS, true);
        cluster.nodes.forEach(node -> node.boot(node.id.value()));
      } else if (verb.equals("settle")) {
        settle();
      } else {
        member(
            verb,
            cluster.node(new NodeId(Long.parseLong(words.get(1)))),
            words.subList(2, words.size()));
      }
    }

    private void member(String verb, SimNode node, List<String> rest) {
      switch (verb) {
        case "tick" -> {
          for (int i = 0; i < Integer.parseInt(rest.get(0)); i++) {
            node.core().tick();
            node.check();
          }
        }
        case "deliver" ->
            deliver(
                node, rest.isEmpty() ? 0 : Long.parseLong(rest.get(0).substring("drop=".length())));
        case "drop" -> cluster.network.removeIf(flight -> flight.to().equals(node.id));
        case "force" -> force(node);
        case "apply" -> apply(node);
        case "propose" -> cluster.propose(node, rest);
        case "read" -> node.read(Long.parseLong(rest.get(0)));
        case "crash" -> node.crash(rest.isEmpty() ? 0 : Integer.parseInt(rest.get(0)));
        case "boot" -> node.boot(node.id.value() + 100);
        case "status" -> cluster.trace(node.id, () -> node.core().status().toString());
        default -> throw new IllegalArgumentException("unknown command " + verb + " " + rest);
      }
    }

    private void deliver(SimNode node, long dropFrom) {
      for (SimCluster.Flight flight : List.copyOf(cluster.network)) {
        if (flight.to().equals(node.id)) {
          cluster.network.remove(flight);
          if (flight.from().value() != dropFrom) {
            cluster.deliver(flight);
          }
        }
      }
    }

    private static void force(SimNode node) {
      while (!node.disk.unforced.isEmpty()) {
        node.force();
      }
    }

    private static void apply(SimNode node) {
      while (node.canApply()) {
        node.applyOldest();
      }
    }

    private void settle() {
      boolean busy = true;
      while (busy) {
        busy = !cluster.network.isEmpty();
        while (!cluster.network.isEmpty()) {
          cluster.deliver(cluster.network.remove(0));
        }
        for (SimNode node : cluster.nodes) {
          busy |= node.isUp() && (!node.disk.unforced.isEmpty() || node.canApply());
          force(node);
          apply(node);
        }
      }
    }
  }
}
