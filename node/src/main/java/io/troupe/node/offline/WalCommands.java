package io.troupe.node.offline;

import com.google.gson.JsonObject;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Requester;
import io.troupe.node.logging.ProcessLogging;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.WalCorruptException;
import io.troupe.persistence.wal.WalException;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.protocol.codec.OperationText;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.MembershipCodec;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code wal dump} and {@code wal verify}: the log of a stopped member. Both read the log in
 * pieces; the memory is one piece, and the places of the entries.
 */
@Command(
    name = "wal",
    description = "Commands on the log of a stopped member",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class WalCommands {
  private static final long PIECE_BYTES = 4 << 20;

  @Command(
      name = "dump",
      mixinStandardHelpOptions = true,
      description = "Prints the entries of the log: index, term, kind, bytes, keys; never values")
  int dump(
      @Mixin StoppedMember member,
      @Option(names = "--from", defaultValue = "0", description = "First index; 0: the oldest")
          long from,
      @Option(names = "--limit", defaultValue = "0", description = "Number of entries; 0: all")
          long limit,
      @Mixin OutputFlags flags) {
    boolean json = isJson(flags.form());
    try (DataDir files = member.open()) {
      WalReplay log = replay(files);
      long first = Math.max(from, log.compactedIndex() + 1);
      long until = log.lastIndex() + 1;
      if (limit > 0) {
        until = Math.min(until, first + limit);
      }
      if (!json) {
        System.out.println(summary(log));
      }
      read(
          files,
          log,
          first,
          until,
          entry -> System.out.println(json ? json(entry, log) : line(entry, log)));
    }
    return 0;
  }

  @Command(
      name = "verify",
      mixinStandardHelpOptions = true,
      description = "Reads the whole log, with its checksums, and decodes each entry")
  int verify(@Mixin StoppedMember member) {
    try (DataDir files = member.open()) {
      WalReplay log = replay(files);
      read(files, log, log.compactedIndex() + 1, log.lastIndex() + 1, WalCommands::text);
      System.out.println(summary(log));
    }
    return 0;
  }

  private static boolean isJson(OutputForm form) {
    if (form != OutputForm.SIMPLE && form != OutputForm.JSON) {
      throw new CommandException(
          4, form.name().toLowerCase(Locale.ROOT) + " not supported as output format");
    }
    return form == OutputForm.JSON;
  }

  /** Reads and checks all segments that the log needs; keeps no entry. */
  private static WalReplay replay(DataDir files) {
    ProcessLogging.begin();
    ChronicleWal.prepare();
    try {
      WalReplay log = WalReplay.read(files.wal(), Long.MAX_VALUE);
      if (log.segments().isEmpty()) {
        throw new CommandException("there is no log in " + files.wal());
      }
      return log;
    } catch (WalCorruptException | WalException e) {
      throw damaged(files, e);
    }
  }

  private static CommandException damaged(DataDir files, RuntimeException e) {
    return new CommandException("the log in " + files.wal() + " is damaged: " + e.getMessage());
  }

  private static void read(
      DataDir files, WalReplay log, long first, long until, Consumer<Entry> each) {
    long next = first;
    while (next < until) {
      List<Entry> piece;
      try {
        piece = log.entries(files.wal(), next, until, PIECE_BYTES).read();
      } catch (WalCorruptException | WalException e) {
        throw damaged(files, e);
      }
      if (piece.isEmpty()) {
        throw new CommandException("the log in " + files.wal() + " lacks entry " + next);
      }
      for (Entry entry : piece) {
        try {
          each.accept(entry);
        } catch (IllegalStateException | IllegalArgumentException e) {
          throw new CommandException(
              "entry " + entry.index() + " of the log in " + files.wal() + ": " + e.getMessage());
        }
        next = entry.index() + 1;
      }
    }
  }

  private static String summary(WalReplay log) {
    HardState state = log.hardState();
    long records = log.segments().stream().mapToLong(WalReplay.Segment::records).sum();
    return "# segments=%d records=%d first-index=%d last-index=%d term=%d vote=%s commit=%d%s"
        .formatted(
            log.segments().size(),
            records,
            log.compactedIndex() + 1,
            log.lastIndex(),
            state.term(),
            state.vote(),
            state.commit(),
            log.tornTail() == null ? "" : " unfinished-write=\"" + log.tornTail() + "\"");
  }

  private static String line(Entry entry, WalReplay log) {
    return "%d\t%d\t%s\t%d\t%s%s"
        .formatted(
            entry.index(),
            entry.term(),
            kind(entry),
            entry.data().length(),
            text(entry),
            isCommitted(entry, log) ? "" : "\tnot known to be committed");
  }

  private static String json(Entry entry, WalReplay log) {
    JsonObject json = new JsonObject();
    json.addProperty("index", entry.index());
    json.addProperty("term", entry.term());
    json.addProperty("kind", kind(entry));
    json.addProperty("bytes", entry.data().length());
    json.addProperty("text", text(entry));
    json.addProperty("committed", isCommitted(entry, log));
    return json.toString();
  }

  private static boolean isCommitted(Entry entry, WalReplay log) {
    return entry.index() <= log.hardState().commit();
  }

  private static String kind(Entry entry) {
    return entry.kind().name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** What the entry changes; decodes it completely. */
  private static String text(Entry entry) {
    return switch (entry.kind()) {
      case NOOP -> "";
      case CONF_CHANGE -> {
        ConfEntry change = MembershipCodec.decodeEntry(entry.data());
        yield change.changes().stream()
            .map(
                each ->
                    each.kind().name().toLowerCase(Locale.ROOT).replace('_', '-')
                        + " "
                        + each.member()
                        + (each.peerUrls().isEmpty() ? "" : " " + each.peerUrls()))
            .collect(Collectors.joining(", "));
      }
      case OPERATION -> {
        DecodedOperation decoded = OperationCodec.decode(entry.data());
        String user =
            decoded.requester() instanceof Requester.User named ? " user:" + named.name() : "";
        yield OperationText.of(decoded.operation()) + user;
      }
    };
  }
}
