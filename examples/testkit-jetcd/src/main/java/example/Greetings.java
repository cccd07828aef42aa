package example;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The program that is tested: keeps one greeting for each name. */
final class Greetings {
  private static final long TIMEOUT_S = 30;

  private final Client client;

  Greetings(Client client) {
    this.client = client;
  }

  private static ByteSequence key(String name) {
    return ByteSequence.from("greetings/" + name, UTF_8);
  }

  Optional<String> find(String name)
      throws ExecutionException, InterruptedException, TimeoutException {
    return client.getKVClient().get(key(name)).get(TIMEOUT_S, TimeUnit.SECONDS).getKvs().stream()
        .map(KeyValue::getValue)
        .map(value -> value.toString(UTF_8))
        .findFirst();
  }

  /** Returns false if there is a greeting for that name. */
  boolean add(String name, String greeting)
      throws ExecutionException, InterruptedException, TimeoutException {
    TxnResponse done =
        client
            .getKVClient()
            .txn()
            .If(new Cmp(key(name), Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
            .Then(Op.put(key(name), ByteSequence.from(greeting, UTF_8), PutOption.DEFAULT))
            .commit()
            .get(TIMEOUT_S, TimeUnit.SECONDS);
    return done.isSucceeded();
  }
}
