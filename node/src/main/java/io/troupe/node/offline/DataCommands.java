package io.troupe.node.offline;

import io.troupe.machine.MemberCheck;
import io.troupe.mvcc.StoreCheck;
import io.troupe.mvcc.StoreException;
import io.troupe.node.logging.ProcessLogging;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.store.TableFiles;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.WalCorruptException;
import io.troupe.persistence.wal.WalException;
import io.troupe.persistence.wal.WalReplay;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code data check}: the state and the log of a stopped member. */
@Command(
    name = "data",
    description = "Commands on the data of a stopped member",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class DataCommands {
  /** Problems that are printed; further ones are counted. */
  private static final int MOST_PROBLEMS = 100;

  private final List<String> problems = new ArrayList<>();
  private long found;

  @Command(
      name = "check",
      mixinStandardHelpOptions = true,
      description = "Checks checksums and rules of the state, and that the log continues it")
  int check(@Mixin StoppedMember member) {
    ProcessLogging.begin();
    ChronicleWal.prepare();
    try (DataDir files = member.open()) {
      tables(files.state());
      // Rows of a damaged file cannot be trusted.
      StoreCheck.@Nullable Summary state = found == 0 ? rows(files.state()) : null;
      log(files, state);
      problems.forEach(System.err::println);
      if (found > problems.size()) {
        System.err.println((found - problems.size()) + " further problems");
      }
      if (found > 0) {
        throw new CommandException(files.root() + " has " + found + " problems");
      }
    }
    return 0;
  }

  private void problem(String text) {
    found++;
    if (problems.size() < MOST_PROBLEMS) {
      problems.add(text);
    }
  }

  private void tables(Path state) {
    List<Path> tables;
    try (Stream<Path> files = Files.list(state)) {
      tables = files.filter(file -> file.toString().endsWith(".sst")).sorted().toList();
    } catch (IOException e) {
      throw new CommandException("cannot read " + state + ": " + e);
    }
    // Loads the native library.
    try (RocksStore store = RocksStore.openReadOnly(state, StoppedMember.STORE)) {
      for (Path table : tables) {
        try {
          TableFiles.verify(table);
        } catch (StoreException e) {
          problem(String.valueOf(e.getMessage()));
        }
      }
      System.out.printf("state: %d table files, %d bytes%n", tables.size(), store.sizeOnDisk());
    } catch (StoreException e) {
      problem(String.valueOf(e.getMessage()));
    }
  }

  private StoreCheck.Summary rows(Path state) {
    try (RocksStore store = RocksStore.openReadOnly(state, StoppedMember.STORE)) {
      Consumer<String> named = text -> problem(state + ": " + text);
      StoreCheck.Summary summary = StoreCheck.run(store, named);
      MemberCheck.run(store, named);
      System.out.printf(
          "state: applied index %d, revision %d, compacted revision %d, %d records, %d keys, %d"
              + " leases%n",
          summary.appliedIndex(),
          summary.revision(),
          summary.compactedRevision(),
          summary.changes(),
          summary.keys(),
          summary.leases());
      if (summary.partial()) {
        System.out.println(
            "state: contains a part of an entry, which the next start removes; its rows were not"
                + " checked");
      }
      return summary;
    } catch (StoreException e) {
      throw new CommandException(state + ": " + e.getMessage());
    }
  }

  private void log(DataDir files, StoreCheck.@Nullable Summary state) {
    WalReplay log;
    try {
      log = WalReplay.read(files.wal(), Long.MAX_VALUE);
    } catch (WalCorruptException | WalException e) {
      problem("the log in " + files.wal() + " is damaged: " + e.getMessage());
      return;
    }
    System.out.printf(
        "log: %d segments, entries %d to %d, term %d, commit index %d%n",
        log.segments().size(),
        log.compactedIndex() + 1,
        log.lastIndex(),
        log.hardState().term(),
        log.hardState().commit());
    if (log.tornTail() != null) {
      System.out.println("log: ends in an unfinished write, " + log.tornTail());
    }
    if (state == null) {
      return;
    }
    long applied = state.appliedIndex();
    if (applied > 0 && log.segments().isEmpty()) {
      problem("there is no log in " + files.wal());
    } else if (applied < log.compactedIndex()) {
      problem(
          "the state contains the entries up to "
              + applied
              + ", the log those above "
              + log.compactedIndex()
              + ": the next start needs a snapshot");
    } else if (log.lastIndex() < applied) {
      System.out.println(
          "log: ends before applied index "
              + applied
              + ", as after a power cut; the state has them");
    }
  }
}
