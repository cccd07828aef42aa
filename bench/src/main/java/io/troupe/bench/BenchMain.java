package io.troupe.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;

/** The command line of the load generator; bench/README.md explains it. */
public final class BenchMain {
  private static final String USAGE =
      """
      Usage: bench [load] [--endpoint HOST:PORT[,...] [--pid PID] | --etcd PATH | --troupe CMD]   load on one server
             bench --compare ETCD [--troupe CMD] [--rounds N]                               both in turn, medians and ratios
             bench turns --builds CMD,CMD [--etcd PATH] [--rounds N]                         all alive, load in short turns
             bench startup [--etcd PATH] [--jdks HOME,HOME] [--repeats N]                   start to first read
             bench cold [--builds CMD,CMD] [--etcd PATH] [--jdks HOME,HOME] [--windows 10,20,40,60] [--rounds N]   first minute
             bench scale [--sizes 100k,1m,10m] [--sorted on] [--settle 0s] [--etcd PATH] [--rounds 1]    cost against number of keys, with a plot
             bench scale --endpoint HOST:PORT [--pid PID]                                   the same of a server that an earlier fill left
             bench restore [--snapshot FILE] [--ctl CMD] [--etcdutl PATH] [--rounds N]      speed and memory of snapshot restore
      Options: --members N --leader N --tls on --auth on --profiles NAME,... --clients N,... --watchers N,... --writers N --ahead N --connections N --keys N --value-bytes N --warm-up 2s
               --duration 5s --server-warm-up 10s --quiet-wait 0s --rate N --history N --idle-watchers N --idle-streams N --idle-leases N --expiring-leases N --compact-every 0s --seed N --threads N --work-dir DIR --out FILE
      bench/README.md explains them.
      """;

  private BenchMain() {}

  /** Exit code 0: done; 1: a measurement failed; 2: the command line is invalid. */
  public static void main(String[] words) {
    System.exit(run(List.of(words)));
  }

  static int run(List<String> words) {
    if (words.contains("--help") || words.contains("-h")) {
      System.out.print(USAGE);
      return 0;
    }
    Options options;
    BenchSettings settings;
    try {
      options = Options.parse(words, BenchSettings.OPTIONS);
      settings = BenchSettings.of(options);
      if (!List.of("", "load", "compare", "turns", "startup", "cold", "scale", "restore")
          .contains(options.command())) {
        throw new IllegalArgumentException("unknown command \"" + options.command() + "\"");
      }
      if (options.command().equals("compare") && !options.has("compare")) {
        throw new IllegalArgumentException("missing option --compare PATH");
      }
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.print(USAGE);
      return 2;
    }
    try {
      execute(options, settings);
      return 0;
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      return 2;
    } catch (IllegalStateException | UncheckedIOException e) {
      System.err.println("bench: " + e.getMessage());
      return 1;
    }
  }

  private static void execute(Options options, BenchSettings settings) {
    if (options.command().equals("startup")) {
      write(options, settings, "startup", StartupCommand.run(options, settings));
    } else if (options.command().equals("cold")) {
      write(options, settings, "cold", ColdCommand.run(options, settings));
    } else if (options.command().equals("turns")) {
      write(options, settings, "turns", TurnsCommand.run(options, settings));
    } else if (options.command().equals("restore")) {
      write(options, settings, "restore", RestoreCommand.run(options, settings));
    } else if (options.command().equals("scale")) {
      Path file = file(options, settings, "scale");
      Path plot = file.resolveSibling(withoutEnding(file) + ".svg");
      ScaleCommand.Result result =
          ScaleCommand.run(options, settings, String.valueOf(plot.getFileName()));
      System.out.println();
      System.out.print(result.text());
      save(file, result.text());
      save(plot, result.plot());
    } else if (options.has("compare")) {
      write(options, settings, "compare", CompareCommand.run(options, settings));
    } else {
      write(options, settings, "", LoadCommand.run(options, settings));
    }
  }

  /**
   * Prints a result. Writes it to the file of {@code --out}, otherwise to bench/results if this
   * kind of result is kept.
   */
  private static void write(Options options, BenchSettings settings, String kept, String text) {
    System.out.println();
    System.out.print(text);
    if (!options.has("out") && kept.isEmpty()) {
      return;
    }
    save(file(options, settings, kept), text);
  }

  private static String withoutEnding(Path file) {
    return String.valueOf(file.getFileName()).replaceFirst("\\.md$", "");
  }

  /** The file of {@code --out}, otherwise one in bench/results. */
  private static Path file(Options options, BenchSettings settings, String kept) {
    String name =
        LocalDate.now(ZoneOffset.UTC)
            + "-"
            + kept
            + "-"
            + MachineFacts.commit(settings.home()).replace(' ', '-')
            + ".md";
    return Path.of(
            options.text("out", settings.home().resolve("bench/results").resolve(name).toString()))
        .toAbsolutePath();
  }

  private static void save(Path file, String text) {
    try {
      Path parent = file.getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    System.out.println("\nwritten to " + file);
  }
}
