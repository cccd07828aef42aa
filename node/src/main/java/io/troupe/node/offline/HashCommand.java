package io.troupe.node.offline;

import io.troupe.etcd.HistoryHash;
import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.node.offline.Row.Cell;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code hashkv} of etcdutl (7.3): the hash of the history in a file. */
@Command(
    name = "hashkv",
    description = "Prints the hash of the history in a snapshot file or database of etcd",
    mixinStandardHelpOptions = true)
final class HashCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FILE", arity = "0..*")
  private @Nullable List<Path> files;

  @Option(names = "--rev", defaultValue = "0", description = "Last revision that counts; 0: newest")
  private long revision;

  @Mixin private final OutputFlags flags = new OutputFlags();

  @Override
  public Integer call() {
    OutputForm form = flags.form();
    int count = files == null ? 0 : files.size();
    // etcdutl has no code of its own for this.
    if (files == null || count != 1) {
      throw new CommandException("accepts 1 arg(s), received " + count);
    }
    Path file = files.get(0);
    try (DatabaseLock lock = DatabaseLock.of(file, flags.timeout());
        BoltReader reader = BoltReader.open(file)) {
      System.out.println(form.text(row(HistoryHash.of(reader, revision))));
    } catch (HistoryHash.RevisionException e) {
      throw new CommandException(String.valueOf(e.getMessage()));
    } catch (NoSuchFileException e) {
      throw new CommandException("stat " + file + ": no such file or directory");
    } catch (DamagedDatabaseException e) {
      throw new CommandException(file + " is damaged: " + e.getMessage());
    } catch (IOException e) {
      throw new CommandException("cannot read " + file + ": " + e);
    }
    return 0;
  }

  private static Row row(HistoryHash hash) {
    return new Row(
        List.of(
            Cell.number("HASH", "Hash", "hash", Integer.toUnsignedLong(hash.hash())),
            Cell.number("HASH REVISION", "Hash revision", "hashRevision", hash.revision()),
            Cell.number(
                "COMPACT REVISION",
                "Compact revision",
                "compactRevision",
                hash.compactRevision())));
  }
}
