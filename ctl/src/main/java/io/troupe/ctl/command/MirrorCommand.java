package io.troupe.ctl.command;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.BidiCall;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.Login;
import io.troupe.ctl.client.TlsSettings;
import io.troupe.ctl.text.KeyRanges;
import io.troupe.ctl.text.RawArguments;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Copies keys to another cluster and follows their changes. */
@Command(
    name = "make-mirror",
    customSynopsis = "make-mirror [options] <destination>",
    description = "Copies keys to another cluster and follows their changes")
final class MirrorCommand implements Runnable {
  private static final int PAGE = 1000;
  private static final long POLL_MS = 1000;
  private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final String COMPACTED = "etcdserver: mvcc: required revision has been compacted";

  private final Session session;

  @Option(names = "--prefix", paramLabel = "string", description = "prefix of the keys to copy")
  String prefix = "";

  @Option(
      names = "--rev",
      paramLabel = "int",
      description = "first revision to copy; 0 copies the present keys first")
  long rev;

  @Option(
      names = "--max-txn-ops",
      paramLabel = "uint",
      defaultValue = "128",
      description = "largest number of changes in one transaction")
  int maxTxnOps = 128;

  @Option(
      names = "--dest-prefix",
      paramLabel = "string",
      description = "prefix of the keys at the destination, in place of --prefix")
  String destPrefix = "";

  @Option(
      names = "--no-dest-prefix",
      arity = "1",
      description = "remove the prefix at the destination")
  boolean noDestPrefix;

  @Option(
      names = "--dest-cert",
      paramLabel = "string",
      description = "client certificate for the destination")
  String destCert = "";

  @Option(
      names = "--dest-key",
      paramLabel = "string",
      description = "private key for the destination")
  String destKey = "";

  @Option(
      names = "--dest-cacert",
      paramLabel = "string",
      description = "trusted CAs for the destination")
  String destCacert = "";

  @Option(
      names = "--dest-insecure-transport",
      arity = "1",
      defaultValue = "true",
      description = "use plaintext to the destination, unless a certificate is given")
  boolean destInsecureTransport = true;

  @Option(
      names = "--dest-user",
      paramLabel = "string",
      description = "name[:password] at the destination")
  String destUser = "";

  @Option(names = "--dest-password", paramLabel = "string", description = "password of --dest-user")
  String destPassword = "";

  private long copied;
  private long reported = System.nanoTime();

  MirrorCommand(Session session) {
    this.session = session;
  }

  @Override
  public void run() {
    String destination = session.onlyArg("make-mirror takes one destination argument");
    Login login =
        destUser.isEmpty()
            ? Login.NONE
            : session.login(destUser, destPassword, "Destination Password: ");
    TlsSettings tls = new TlsSettings(destCert, destKey, destCacert, destInsecureTransport, false);
    EtcdClient target = session.open(session.settings(List.of(destination), tls, login));
    EtcdClient source = session.client();
    if (noDestPrefix && !destPrefix.isEmpty()) {
      throw CtlException.arguments(
          "`--dest-prefix` and `--no-dest-prefix` cannot be set at the same time, choose one");
    }
    if (maxTxnOps < 1) {
      throw CtlException.arguments("--max-txn-ops: " + maxTxnOps + " is not 1 or more");
    }
    long next = rev > 1 ? rev : copyPresent(source, target) + 1;
    follow(source, target, next);
  }

  private ByteString start() {
    return prefix.isEmpty() ? KeyRanges.OPEN : RawArguments.encode(prefix);
  }

  private ByteString end() {
    return prefix.isEmpty() ? KeyRanges.OPEN : KeyRanges.prefixEnd(RawArguments.encode(prefix));
  }

  /** Copies all keys of one revision; returns it. */
  private long copyPresent(EtcdClient source, EtcdClient target) {
    ByteString from = start();
    long revision = 0;
    while (true) {
      RangeResponse page =
          source.read(
              EtcdMethods.RANGE,
              RangeRequest.newBuilder()
                  .setKey(from)
                  .setRangeEnd(end())
                  .setLimit(PAGE)
                  .setRevision(revision)
                  .build());
      revision = revision == 0 ? page.getHeader().getRevision() : revision;
      for (KeyValue pair : page.getKvsList()) {
        var unused = target.call(EtcdMethods.PUT, put(pair));
        copied++;
        report();
      }
      if (!page.getMore()) {
        return revision;
      }
      from = page.getKvs(page.getKvsCount() - 1).getKey().concat(KeyRanges.OPEN);
    }
  }

  private PutRequest put(KeyValue pair) {
    return PutRequest.newBuilder().setKey(moved(pair.getKey())).setValue(pair.getValue()).build();
  }

  private ByteString moved(ByteString key) {
    String other = noDestPrefix ? "" : destPrefix.isEmpty() ? prefix : destPrefix;
    return RawArguments.encode(other).concat(key.substring(RawArguments.encode(prefix).size()));
  }

  private void follow(EtcdClient source, EtcdClient target, long next) {
    try (BidiCall<WatchRequest, WatchResponse> call = source.open(EtcdMethods.WATCH, false)) {
      call.send(
          WatchRequest.newBuilder()
              .setCreateRequest(
                  WatchCreateRequest.newBuilder()
                      .setKey(start())
                      .setRangeEnd(end())
                      .setStartRevision(next))
              .build());
      while (true) {
        WatchResponse response = call.next(POLL_MS);
        report();
        if (response == null) {
          continue;
        }
        if (response.getCanceled()) {
          throw new CtlException(
              ExitCode.ERROR,
              response.getCompactRevision() != 0 ? COMPACTED : response.getCancelReason());
        }
        apply(response.getEventsList(), target);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CtlException.silent(ExitCode.INTERRUPTED);
    }
  }

  /** One transaction for each revision, or more if it has too many changes. */
  private void apply(List<Event> events, EtcdClient target) {
    List<RequestOp> changes = new ArrayList<>();
    long revision = 0;
    for (Event event : events) {
      long own = event.getKv().getModRevision();
      if (!changes.isEmpty() && (own > revision || changes.size() == maxTxnOps)) {
        commit(changes, target);
      }
      revision = own;
      RequestOp.Builder change = RequestOp.newBuilder();
      if (event.getType() == Event.EventType.PUT) {
        change.setRequestPut(put(event.getKv()));
      } else {
        change.setRequestDeleteRange(
            DeleteRangeRequest.newBuilder().setKey(moved(event.getKv().getKey())));
      }
      changes.add(change.build());
      copied++;
    }
    if (!changes.isEmpty()) {
      commit(changes, target);
    }
  }

  private static void commit(List<RequestOp> changes, EtcdClient target) {
    var unused =
        target.call(EtcdMethods.TXN, TxnRequest.newBuilder().addAllSuccess(changes).build());
    changes.clear();
  }

  /** Prints the number of copied changes every 30 seconds. */
  private void report() {
    if (System.nanoTime() - reported >= REPORT_NANOS) {
      reported += REPORT_NANOS;
      session.console().line(Long.toString(copied));
      session.console().flush();
    }
  }
}
