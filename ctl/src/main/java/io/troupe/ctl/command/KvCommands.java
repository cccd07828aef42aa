package io.troupe.ctl.command;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.print.Printer;
import io.troupe.ctl.print.Printers;
import io.troupe.ctl.print.SimplePrinter;
import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.KeyRanges;
import io.troupe.ctl.text.Quoted;
import io.troupe.ctl.text.RawArguments;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeRequest.SortOrder;
import io.troupe.grpc.api.RangeRequest.SortTarget;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RangeStreamResponse;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Reading and writing keys: get, put, del, compaction. */
final class KvCommands {
  private static final String BOTH_RANGES =
      "`--prefix` and `--from-key` cannot be set at the same time, choose one";
  private static final String RANGE_AND_END =
      "too many arguments, only accept one argument when `--prefix` or `--from-key` is set";

  private KvCommands() {}

  /** Whether {@code s} (serializable) or {@code l} (linearizable) was given. */
  static boolean isSerializable(String consistency) {
    return switch (consistency) {
      case "s" -> true;
      case "l" -> false;
      default ->
          throw new CtlException(
              ExitCode.BAD_FEATURE, "unknown consistency flag " + Quoted.quote(consistency));
    };
  }

  /** A key and the end of its range; an empty end is the key alone. */
  record Range(ByteString key, ByteString end) {
    /** The range of the arguments of get and del. */
    static Range of(List<String> args, boolean prefix, boolean fromKey) {
      ByteString key = RawArguments.encode(args.get(0));
      if (args.size() > 1) {
        if (prefix || fromKey) {
          throw CtlException.arguments(RANGE_AND_END);
        }
        return new Range(key, RawArguments.encode(args.get(1)));
      }
      if (!prefix && !fromKey) {
        return new Range(key, ByteString.EMPTY);
      }
      if (key.isEmpty()) {
        return new Range(KeyRanges.OPEN, KeyRanges.OPEN);
      }
      return new Range(key, prefix ? KeyRanges.prefixEnd(key) : KeyRanges.OPEN);
    }
  }

  /** Reads a key or a range. */
  @Command(
      name = "get",
      customSynopsis = "get [options] <key> [range_end]",
      description = "Prints a key or a range of keys")
  static final class Get implements Runnable {
    private final Session session;

    @Option(
        names = "--consistency",
        paramLabel = "string",
        defaultValue = "l",
        description = "linearizable (l) or serializable (s)")
    String consistency = "l";

    @Option(names = "--order", paramLabel = "string", description = "ASCEND or DESCEND")
    String order = "";

    @Option(
        names = "--sort-by",
        paramLabel = "string",
        description = "CREATE, KEY, MODIFY, VALUE or VERSION")
    String sortBy = "";

    @Option(names = "--limit", paramLabel = "int", description = "largest number of results")
    long limit;

    @Option(names = "--prefix", arity = "1", description = "all keys that start with the key")
    boolean prefix;

    @Option(names = "--from-key", arity = "1", description = "the key and all keys after it")
    boolean fromKey;

    @Option(names = "--rev", paramLabel = "int", description = "the keys at this revision")
    long rev;

    @Option(names = "--keys-only", arity = "1", description = "no values")
    boolean keysOnly;

    @Option(names = "--count-only", arity = "1", description = "only the number of keys")
    boolean countOnly;

    @Option(
        names = "--print-value-only",
        arity = "1",
        description = "no keys; only with the output mode simple")
    boolean printValueOnly;

    @Option(
        names = "--min-create-rev",
        paramLabel = "int",
        description = "smallest creation revision")
    long minCreateRev;

    @Option(
        names = "--max-create-rev",
        paramLabel = "int",
        description = "largest creation revision")
    long maxCreateRev;

    @Option(
        names = "--min-mod-rev",
        paramLabel = "int",
        description = "smallest revision of the last change")
    long minModRev;

    @Option(
        names = "--max-mod-rev",
        paramLabel = "int",
        description = "largest revision of the last change")
    long maxModRev;

    @Option(names = "--stream", arity = "1", description = "use the call RangeStream")
    boolean stream;

    Get(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      RangeRequest request = request(session.args());
      RangeResponse response =
          stream ? stream(request) : session.client().read(EtcdMethods.RANGE, request);
      Printer printer = session.printer();
      if (countOnly && !Printers.isFields(printer)) {
        throw CtlException.arguments("--count-only is only for `--write-out=fields`");
      }
      if (printValueOnly) {
        if (!(printer instanceof SimplePrinter simple)) {
          throw CtlException.arguments("print-value-only is only for `--write-out=simple`");
        }
        printer = simple.valuesOnly();
      }
      printer.range(response);
    }

    private RangeResponse stream(RangeRequest request) {
      RangeResponse.Builder merged = RangeResponse.newBuilder();
      Iterator<RangeStreamResponse> parts =
          session.client().stream(
              EtcdMethods.RANGE_STREAM, request, session.options().commandTimeout);
      while (parts.hasNext()) {
        merged.mergeFrom(parts.next().getRangeResponse());
      }
      return merged.build();
    }

    RangeRequest request(List<String> args) {
      if (args.isEmpty()) {
        throw CtlException.arguments(
            "get command needs one argument as key and an optional argument as range_end");
      }
      if (prefix && fromKey) {
        throw CtlException.arguments(BOTH_RANGES);
      }
      if (keysOnly && countOnly) {
        throw CtlException.arguments(
            "`--keys-only` and `--count-only` cannot be set at the same time, choose one");
      }
      boolean serializable = isSerializable(consistency);
      Range range = Range.of(args, prefix, fromKey);
      SortTarget target = target();
      SortOrder sort = sortOrder();
      requireOrder("getMinCreateRev", minCreateRev, "getMaxCreateRev", maxCreateRev);
      requireOrder("getMinModRev", minModRev, "getMaxModRev", maxModRev);
      // Keys are in ascending order anyway.
      boolean plain = target == SortTarget.KEY && sort == SortOrder.ASCEND;
      return RangeRequest.newBuilder()
          .setKey(range.key())
          .setRangeEnd(range.end())
          .setLimit(limit)
          .setRevision(Math.max(rev, 0))
          .setSortTarget(target)
          .setSortOrder(plain ? SortOrder.NONE : sort)
          .setSerializable(serializable)
          .setKeysOnly(keysOnly)
          .setCountOnly(countOnly)
          .setMinCreateRevision(Math.max(minCreateRev, 0))
          .setMaxCreateRevision(Math.max(maxCreateRev, 0))
          .setMinModRevision(Math.max(minModRev, 0))
          .setMaxModRevision(Math.max(maxModRev, 0))
          .build();
    }

    private static void requireOrder(String low, long min, String high, long max) {
      if (max > 0 && min > max) {
        throw new CtlException(
            ExitCode.BAD_FEATURE, low + "(=" + min + ") > " + high + "(=" + max + ")");
      }
    }

    private SortOrder sortOrder() {
      return switch (order.toUpperCase(Locale.ROOT)) {
        case "" -> SortOrder.NONE;
        case "ASCEND" -> SortOrder.ASCEND;
        case "DESCEND" -> SortOrder.DESCEND;
        default -> throw new CtlException(ExitCode.BAD_FEATURE, "bad sort order " + order);
      };
    }

    private SortTarget target() {
      return switch (sortBy.toUpperCase(Locale.ROOT)) {
        case "", "KEY" -> SortTarget.KEY;
        case "CREATE" -> SortTarget.CREATE;
        case "MODIFY" -> SortTarget.MOD;
        case "VALUE" -> SortTarget.VALUE;
        case "VERSION" -> SortTarget.VERSION;
        default -> throw new CtlException(ExitCode.BAD_FEATURE, "bad sort target " + sortBy);
      };
    }
  }

  /** Writes a key. */
  @Command(
      name = "put",
      customSynopsis = "put [options] <key> <value> (<value> can also be given from stdin)",
      description = "Writes a key; without a value argument the value is standard input")
  static final class Put implements Runnable {
    private static final String USAGE =
        "put command needs 1 argument and input from stdin or 2 arguments";

    private final Session session;

    @Option(
        names = "--lease",
        paramLabel = "string",
        defaultValue = "0",
        description = "ID of the lease to attach, in hexadecimal")
    String lease = "0";

    @Option(names = "--prev-kv", arity = "1", description = "print the pair before the change")
    boolean prevKv;

    @Option(names = "--ignore-value", arity = "1", description = "keep the value")
    boolean ignoreValue;

    @Option(names = "--ignore-lease", arity = "1", description = "keep the lease")
    boolean ignoreLease;

    Put(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      PutRequest request = request(session.args(), true);
      session.printer().put(session.client().call(EtcdMethods.PUT, request));
    }

    /**
     * @param fromInput whether a missing value is standard input
     */
    PutRequest request(List<String> args, boolean fromInput) {
      if (args.isEmpty()) {
        throw CtlException.arguments(USAGE);
      }
      if (ignoreValue && args.size() > 1) {
        throw CtlException.arguments(
            "put command needs only 1 argument when 'ignore-value' is set");
      }
      ByteString value = ByteString.EMPTY;
      if (!ignoreValue) {
        if (args.size() > 1) {
          value = RawArguments.encode(args.get(1));
        } else {
          value = fromInput ? session.console().readAll() : ByteString.EMPTY;
          if (value.isEmpty()) {
            throw CtlException.arguments(USAGE);
          }
        }
      }
      long leaseId;
      try {
        leaseId = Integers.parse(lease, 16);
      } catch (IllegalArgumentException e) {
        throw CtlException.arguments("bad lease ID (" + e.getMessage() + "), expecting ID in Hex");
      }
      return PutRequest.newBuilder()
          .setKey(RawArguments.encode(args.get(0)))
          .setValue(value)
          .setLease(leaseId)
          .setPrevKv(prevKv)
          .setIgnoreValue(ignoreValue)
          .setIgnoreLease(ignoreLease)
          .build();
    }
  }

  /** Deletes a key or a range. */
  @Command(
      name = "del",
      customSynopsis = "del [options] <key> [range_end]",
      description = "Deletes a key or the range [key, range_end)")
  static final class Del implements Runnable {
    private static final long WARNING_SECONDS = 2;

    private final Session session;

    @Option(names = "--prefix", arity = "1", description = "all keys that start with the key")
    boolean prefix;

    @Option(names = "--prev-kv", arity = "1", description = "print the deleted pairs")
    boolean prevKv;

    @Option(names = "--from-key", arity = "1", description = "the key and all keys after it")
    boolean fromKey;

    @Option(names = "--range", arity = "1", description = "delete a range without a delay")
    boolean range;

    Del(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      DeleteRangeRequest request = request(session.args());
      session.printer().delete(session.client().call(EtcdMethods.DELETE_RANGE, request));
    }

    DeleteRangeRequest request(List<String> args) {
      if (args.isEmpty() || args.size() > 2) {
        throw CtlException.arguments(
            "del command needs one argument as key and an optional argument as range_end");
      }
      if (prefix && fromKey) {
        throw CtlException.arguments(BOTH_RANGES);
      }
      Range keys = Range.of(args, prefix, fromKey);
      if (args.size() == 2 && !range) {
        warn(session.console(), args);
      }
      return DeleteRangeRequest.newBuilder()
          .setKey(keys.key())
          .setRangeEnd(keys.end())
          .setPrevKv(prevKv)
          .build();
    }

    /** etcdctl waits as well: an end that was meant as a second key deletes much. */
    private static void warn(Console console, List<String> args) {
      console.error(
          "Warning: Keys between "
              + Quoted.quote(args.get(0))
              + " and "
              + Quoted.quote(args.get(1))
              + " will be deleted. Please interrupt the command within next "
              + WARNING_SECONDS
              + " seconds to cancel. You can provide `--range` flag to avoid the delay.");
      try {
        TimeUnit.SECONDS.sleep(WARNING_SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw CtlException.silent(ExitCode.INTERRUPTED);
      }
    }
  }

  /** Removes old revisions. */
  @Command(
      name = "compaction",
      customSynopsis = "compaction [options] <revision>",
      description = "Removes the history before a revision")
  static final class Compaction implements Runnable {
    private final Session session;

    @Option(names = "--physical", arity = "1", description = "wait until old revisions are removed")
    boolean physical;

    Compaction(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      String text = session.onlyArg("compaction command needs 1 argument");
      long revision;
      try {
        revision = Integers.parse(text, 10);
      } catch (IllegalArgumentException e) {
        throw new CtlException(ExitCode.ERROR, String.valueOf(e.getMessage()));
      }
      CompactionRequest request =
          CompactionRequest.newBuilder().setRevision(revision).setPhysical(physical).build();
      var unused = session.client().call(EtcdMethods.COMPACT, request);
      session.console().line("compacted revision " + revision);
    }
  }
}
