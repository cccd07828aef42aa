package scenario;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.auth.Permission;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.lease.LeaseTimeToLiveResponse;
import io.etcd.jetcd.maintenance.StatusResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The common scenario (../README.md) by jetcd. */
public final class Scenario {
  private static final String P = "java/";

  private Scenario() {}

  private interface Step {
    void run(Client client) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    List<Step> steps =
        List.of(
            Scenario::putAndGet,
            Scenario::ranges,
            Scenario::transactions,
            Scenario::deletes,
            Scenario::leases,
            Scenario::watches,
            Scenario::compaction,
            Scenario::members,
            Scenario::locks,
            Scenario::logins);
    try (Client client = connect(null, null)) {
      for (Step step : steps) {
        step.run(client);
      }
    }
  }

  private static Client connect(String user, String password) throws Exception {
    String ca = System.getenv("CACERT");
    boolean tls = ca != null && !ca.isEmpty();
    ClientBuilder builder =
        Client.builder().endpoints((tls ? "https://" : "http://") + System.getenv("ENDPOINT"));
    if (tls) {
      builder.sslContext(context -> context.trustManager(new File(ca)));
    }
    if (user != null) {
      builder.user(bytes(user)).password(bytes(password));
    }
    return builder.build();
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }

  private static ByteSequence key(String name) {
    return bytes(P + name);
  }

  private static <T> T done(CompletableFuture<T> call) throws Exception {
    return call.get(20, TimeUnit.SECONDS);
  }

  private static void check(boolean fine, String text) {
    if (!fine) {
      throw new IllegalStateException(text);
    }
  }

  private static void refused(CompletableFuture<?> call, String text)
      throws InterruptedException, TimeoutException {
    try {
      call.get(20, TimeUnit.SECONDS);
    } catch (ExecutionException refusal) {
      check(String.valueOf(refusal.getCause()).contains(text), String.valueOf(refusal.getCause()));
      return;
    }
    throw new IllegalStateException("not refused: " + text);
  }

  private static void ok(String name) {
    System.out.println("ok " + name);
  }

  private static void putAndGet(Client client) throws Exception {
    KV kv = client.getKVClient();
    ByteSequence value = ByteSequence.from(new byte[] {0, (byte) 255, 10});
    long first = done(kv.put(key("a"), bytes("1"))).getHeader().getRevision();
    long second = done(kv.put(key("a"), value)).getHeader().getRevision();
    check(second == first + 1, "revisions do not follow each other");
    GetResponse found = done(kv.get(key("a")));
    check(found.getKvs().get(0).getValue().equals(value), "another value");
    check(found.getKvs().get(0).getVersion() == 2, "another version");
    check(done(kv.get(key("missing"))).getCount() == 0, "a key that was never put");
    ok("put and get");
  }

  private static void ranges(Client client) throws Exception {
    KV kv = client.getKVClient();
    for (int i = 0; i < 10; i++) {
      done(kv.put(key("range/" + i), bytes("" + i)));
    }
    GetOption last =
        GetOption.builder()
            .isPrefix(true)
            .withLimit(3)
            .withSortField(GetOption.SortTarget.KEY)
            .withSortOrder(GetOption.SortOrder.DESCEND)
            .build();
    GetResponse found = done(kv.get(key("range/"), last));
    check(found.getCount() == 10 && found.isMore() && found.getKvs().size() == 3, "another range");
    check(found.getKvs().get(0).getValue().equals(bytes("9")), "another order");
    ok("ranges");
  }

  private static void transactions(Client client) throws Exception {
    for (boolean expected : new boolean[] {true, false}) {
      boolean succeeded =
          done(client
                  .getKVClient()
                  .txn()
                  .If(new Cmp(key("txn"), Cmp.Op.EQUAL, CmpTarget.version(0)))
                  .Then(Op.put(key("txn"), bytes("1"), PutOption.DEFAULT))
                  .Else(Op.get(key("txn"), GetOption.DEFAULT))
                  .commit())
              .isSucceeded();
      check(succeeded == expected, "the other branch");
    }
    ok("transactions");
  }

  private static void deletes(Client client) throws Exception {
    KV kv = client.getKVClient();
    DeleteOption prefix = DeleteOption.builder().isPrefix(true).build();
    check(done(kv.delete(key("range/"), prefix)).getDeleted() == 10, "another number of keys");
    check(done(kv.delete(key("missing"))).getDeleted() == 0, "a key that was never put");
    ok("deletes");
  }

  private static void leases(Client client) throws Exception {
    long lease = done(client.getLeaseClient().grant(60)).getID();
    PutOption bound = PutOption.builder().withLeaseId(lease).build();
    done(client.getKVClient().put(key("lease"), bytes("1"), bound));
    check(done(client.getLeaseClient().keepAliveOnce(lease)).getTTL() == 60, "another time");
    LeaseOption keys = LeaseOption.builder().withAttachedKeys().build();
    LeaseTimeToLiveResponse times = done(client.getLeaseClient().timeToLive(lease, keys));
    check(times.getKeys().equals(List.of(key("lease"))), "other keys");
    done(client.getLeaseClient().revoke(lease));
    check(done(client.getKVClient().get(key("lease"))).getCount() == 0, "a key without its lease");
    ok("leases");
  }

  private static void watches(Client client) throws Exception {
    KV kv = client.getKVClient();
    long start = done(kv.put(key("watch/1"), bytes("1"))).getHeader().getRevision();
    done(kv.put(key("watch/1"), bytes("2")));
    LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
    WatchOption option = WatchOption.builder().isPrefix(true).withRevision(start).build();
    try (Watch.Watcher watcher =
        client
            .getWatchClient()
            .watch(
                key("watch/"),
                option,
                answer ->
                    answer
                        .getEvents()
                        .forEach(
                            event ->
                                seen.add(
                                    event.getEventType() + " " + event.getKeyValue().getValue())))) {
      done(kv.delete(key("watch/1")));
      for (String wanted : List.of("PUT 1", "PUT 2", "DELETE ")) {
        String next = seen.poll(20, TimeUnit.SECONDS);
        check(wanted.equals(next), next + " instead of " + wanted);
      }
    }
    ok("watches");
  }

  private static void compaction(Client client) throws Exception {
    KV kv = client.getKVClient();
    long old = done(kv.put(key("a"), bytes("old"))).getHeader().getRevision();
    long now = done(kv.put(key("a"), bytes("new"))).getHeader().getRevision();
    done(kv.compact(now));
    refused(
        kv.get(key("a"), GetOption.builder().withRevision(old).build()),
        "etcdserver: mvcc: required revision has been compacted");
    ok("compaction");
  }

  private static void members(Client client) throws Exception {
    var all = done(client.getClusterClient().listMember()).getMembers();
    check(all.size() == 1, "other members");
    String ca = System.getenv("CACERT");
    boolean tls = ca != null && !ca.isEmpty();
    StatusResponse status =
        done(
            client
                .getMaintenanceClient()
                .statusMember((tls ? "https://" : "http://") + System.getenv("ENDPOINT")));
    check(status.getLeader() == all.get(0).getId(), "another leader");
    check(status.getVersion().startsWith("3.7."), status.getVersion());
    ok("members and status");
  }

  private static void locks(Client client) throws Exception {
    long one = done(client.getLeaseClient().grant(30)).getID();
    long two = done(client.getLeaseClient().grant(30)).getID();
    ByteSequence first = done(client.getLockClient().lock(key("lock"), one)).getKey();
    var second = client.getLockClient().lock(key("lock"), two);
    try {
      second.get(500, TimeUnit.MILLISECONDS);
      throw new IllegalStateException("locked twice");
    } catch (TimeoutException held) {
      // As it should be.
    }
    done(client.getLockClient().unlock(first));
    done(client.getLockClient().unlock(done(second).getKey()));
    done(client.getLeaseClient().revoke(one));
    done(client.getLeaseClient().revoke(two));
    ok("locks");
  }

  private static void logins(Client client) throws Exception {
    var auth = client.getAuthClient();
    done(auth.userAdd(bytes("root"), bytes("r")));
    done(auth.userGrantRole(bytes("root"), bytes("root")));
    done(auth.roleAdd(bytes("part")));
    done(
        auth.roleGrantPermission(
            bytes("part"), key("part/"), key("part0"), Permission.Type.READWRITE));
    done(auth.userAdd(bytes("some"), bytes("s")));
    done(auth.userGrantRole(bytes("some"), bytes("part")));
    done(auth.authEnable());
    try (Client root = connect("root", "r")) {
      try (Client some = connect("some", "s")) {
        KV kv = some.getKVClient();
        done(kv.put(key("part/1"), bytes("1")));
        check(done(kv.get(key("part/1"))).getCount() == 1, "another value");
        refused(kv.get(bytes("other")), "etcdserver: permission denied");
      } finally {
        done(root.getAuthClient().authDisable());
      }
    }
    done(auth.userDelete(bytes("some")));
    done(auth.userDelete(bytes("root")));
    done(auth.roleDelete(bytes("part")));
    ok("logins");
  }
}
