package io.troupe.ctl.command;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.cli.FlagParser;
import io.troupe.ctl.cli.UsageException;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.text.RawArguments;
import io.troupe.ctl.text.Words;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Reads a transaction from standard input: compares, requests if all hold, requests otherwise. An
 * empty line ends each part.
 */
@Command(
    name = "txn",
    customSynopsis = "txn [options]",
    description = {
      "Runs one transaction, read from standard input",
      "",
      "Three parts, each ended by an empty line: compares such as mod(\"key\") > \"0\",",
      "requests (get, put, del) if all compares hold, requests if one does not."
    })
final class TxnCommand implements Runnable {
  private final Session session;

  @Option(
      names = {"-i", "--interactive"},
      arity = "1",
      description = "print what to enter next")
  boolean interactive;

  TxnCommand(Session session) {
    this.session = session;
  }

  @Override
  public void run() {
    if (!session.args().isEmpty()) {
      throw CtlException.arguments("txn command does not accept argument");
    }
    EtcdClient client = session.client();
    TxnRequest.Builder txn = TxnRequest.newBuilder();
    prompt("compares:");
    part(line -> txn.addCompare(compare(line)));
    prompt("success requests (get, put, del):");
    part(line -> txn.addSuccess(operation(line)));
    prompt("failure requests (get, put, del):");
    part(line -> txn.addFailure(operation(line)));
    session.printer().txn(client.call(EtcdMethods.TXN, txn.build()));
  }

  private void prompt(String text) {
    if (interactive) {
      session.console().line(text);
      session.console().flush();
    }
  }

  /** Passes on the lines up to the next empty one. */
  private void part(Consumer<String> lines) {
    while (true) {
      ByteString read = session.console().readLine();
      if (read == null) {
        throw new CtlException(ExitCode.INVALID_INPUT, "EOF");
      }
      String line = RawArguments.decode(read).strip();
      if (line.isEmpty()) {
        return;
      }
      lines.accept(line);
    }
  }

  private static Compare compare(String line) {
    try {
      return CompareText.parse(line);
    } catch (IllegalArgumentException e) {
      throw new CtlException(ExitCode.INVALID_INPUT, String.valueOf(e.getMessage()));
    }
  }

  private RequestOp operation(String line) {
    KvCommands.Get get = new KvCommands.Get(session);
    KvCommands.Put put = new KvCommands.Put(session);
    KvCommands.Del del = new KvCommands.Del(session);
    CommandLine requests =
        Commands.configure(
            new CommandLine(new Requests())
                .addSubcommand(get)
                .addSubcommand(put)
                .addSubcommand(del));
    FlagParser.Parsed parsed;
    try {
      List<String> words = Words.split(line);
      if (words.size() < 2) {
        throw new CtlException(ExitCode.INVALID_INPUT, "invalid txn compare request: " + line);
      }
      parsed = FlagParser.parse(requests, words);
      var unused = requests.parseArgs(parsed.line().toArray(String[]::new));
    } catch (UsageException e) {
      throw new CtlException(ExitCode.INVALID_INPUT, "invalid txn request: " + line);
    } catch (IllegalArgumentException e) {
      throw new CtlException(ExitCode.INVALID_INPUT, String.valueOf(e.getMessage()));
    }
    RequestOp.Builder operation = RequestOp.newBuilder();
    Object command = parsed.command().getCommand();
    if (command == get) {
      operation.setRequestRange(get.request(parsed.arguments()));
    } else if (command == put) {
      operation.setRequestPut(put.request(parsed.arguments(), false));
    } else {
      operation.setRequestDeleteRange(del.request(parsed.arguments()));
    }
    return operation.build();
  }

  /** The commands of a transaction. */
  @Command(name = "txn")
  private static final class Requests {}
}
