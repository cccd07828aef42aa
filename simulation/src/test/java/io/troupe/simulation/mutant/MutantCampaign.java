package io.troupe.simulation.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs seeds of every mutant in turn, and writes the table of docs/simulation.md after each. Fails
 * if no seed catches a mutant for which the list names no unit test.
 *
 * <p>Part of no profile. Settings: {@code -Dtroupe.mutants.names} (a regular expression that is
 * searched in names), {@code -Dtroupe.mutants.seeds}, {@code -Dtroupe.mutants.mostSeeds} (until
 * there, if those seeds do not catch it), {@code -Dtroupe.mutants.firstSeed}, {@code
 * -Dtroupe.mutants.seconds} (virtual, with faults), {@code -Dtroupe.mutants.failures} (of one
 * mutant, after which to stop), {@code -Dtroupe.mutants.timeout} (seconds of real time, for the
 * seeds of a mutant), {@code -Dtroupe.mutants.page}.
 */
class MutantCampaign {
  private static final Pattern NAMES =
      Pattern.compile(System.getProperty("troupe.mutants.names", ""));
  private static final long FIRST_SEED = Long.getLong("troupe.mutants.firstSeed", 1);
  private static final long SEEDS = Long.getLong("troupe.mutants.seeds", 100);
  private static final long MOST_SEEDS = Long.getLong("troupe.mutants.mostSeeds", 400);
  private static final int SECONDS = Integer.getInteger("troupe.mutants.seconds", 3);
  private static final int FAILURES = Integer.getInteger("troupe.mutants.failures", 2);
  private static final long TIMEOUT_SECONDS = Long.getLong("troupe.mutants.timeout", 900);
  private static final Path PAGE =
      Path.of(System.getProperty("troupe.mutants.page", "target/mutants.md"));
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  @TempDir Path directory = Path.of("");

  @Test
  void everyMutantIsCaught() throws IOException, InterruptedException {
    // Without a mutant no seed fails: otherwise the results of the mutants prove nothing.
    assertThat(run(Map.of(), SEEDS).failed()).as("seeds that fail without a mutant").isZero();
    List<String> missed = new ArrayList<>();
    StringBuilder page =
        new StringBuilder(
            "| mutant | class | caught in seeds | first | what broke |\n|---|---|---|---|---|\n");
    for (Mutant mutant : MutantList.read()) {
      if (NAMES.matcher(mutant.name()).find()) {
        MutantProcess.Outcome outcome = run(mutant.sources(ROOT), MOST_SEEDS);
        String row = row(mutant, outcome);
        System.out.print(row);
        page.append(row);
        Files.writeString(PAGE, page);
        if (outcome.failed() == 0 && mutant.tests().isEmpty()) {
          missed.add(mutant.name());
        }
      }
    }
    assertThat(missed).as("caught by no seed, and the list names no test").isEmpty();
  }

  private MutantProcess.Outcome run(Map<Path, String> changed, long mostSeeds)
      throws IOException, InterruptedException {
    Path own = Files.createTempDirectory(directory, "mutant");
    MutantProcess process = new MutantProcess(ROOT, own, TIMEOUT_SECONDS);
    process.compile(changed);
    MutantProcess.Outcome outcome = process.run(FIRST_SEED, SEEDS, SECONDS, FAILURES);
    return outcome.failed() > 0 || mostSeeds <= SEEDS
        ? outcome
        : outcome.and(process.run(FIRST_SEED + SEEDS, mostSeeds - SEEDS, SECONDS, FAILURES));
  }

  private static String row(Mutant mutant, MutantProcess.Outcome outcome) {
    boolean caught = outcome.failed() > 0;
    String classes =
        mutant.classes().stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
    String tests =
        mutant.tests().isEmpty()
            ? "**no test**"
            : mutant.tests().stream()
                    .map(name -> "`" + name + "`")
                    .collect(Collectors.joining(" and "))
                + (mutant.tests().size() == 1 ? " fails" : " fail");
    String missed = mutant.note().isEmpty() ? tests : mutant.note() + "; " + tests;
    return String.format(
        "| %s | %s | %s of %d | %s | %s |%n",
        mutant.name(),
        classes,
        caught ? outcome.failed() : "**0**",
        outcome.seeds(),
        caught ? outcome.firstSeed() : "-",
        caught ? outcome.broken().replace("|", "\\|") : missed);
  }
}
