package io.troupe.tests.clients;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Election;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.election.CampaignResponse;
import io.etcd.jetcd.election.LeaderKey;
import io.etcd.jetcd.election.LeaderResponse;
import io.etcd.jetcd.election.NoLeaderException;
import io.etcd.jetcd.election.NotLeaderException;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.lock.LockResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.support.CloseableClient;
import io.etcd.jetcd.watch.WatchEvent;
import io.grpc.stub.StreamObserver;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** jetcd, the Java client, against a member on every JDK. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.troupe.tests.process.TestJdks#all")
@HeapIndependent
class JetcdIT {
  private static Path directory = Path.of("");

  private static final GetOption PREFIX = GetOption.builder().isPrefix(true).build();

  private static @Nullable NodeProcess node;
  private static @Nullable Client shared;

  private final Jdk jdk;
  private final Client client = Objects.requireNonNull(shared);
  private final KV kv = client.getKVClient();
  private String prefix = "";

  JetcdIT(Jdk jdk) {
    this.jdk = jdk;
  }

  @BeforeParameterizedClassInvocation
  static void start(Jdk jdk) throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "clients-");
    NodeProcess member =
        NodeProcess.member(jdk, directory.resolve(jdk.toString())).start().awaitReady();
    node = member;
    shared = Client.builder().endpoints("http://" + member.endpoint()).build();
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    if (shared != null) {
      shared.close();
    }
    if (node != null) {
      node.close();
    }
  }

  @BeforeEach
  void ownKeys(TestInfo test) {
    prefix = jdk + "/" + test.getTestMethod().orElseThrow().getName() + "/";
  }

  private ByteSequence key(String name) {
    return bytes(prefix + name);
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, UTF_8);
  }

  private static <T> T get(CompletableFuture<T> future)
      throws ExecutionException, InterruptedException, TimeoutException {
    return future.get(20, TimeUnit.SECONDS);
  }

  private long put(String name, String value) throws Exception {
    return get(kv.put(key(name), bytes(value))).getHeader().getRevision();
  }

  @Test
  void keysAndRanges() throws Exception {
    put("b", "1");
    put("a", "2");
    assertThat(get(kv.get(key("a"))).getKvs().get(0).getValue()).isEqualTo(bytes("2"));
    var all =
        get(
            kv.get(
                key(""),
                GetOption.builder()
                    .isPrefix(true)
                    .withSortField(GetOption.SortTarget.VALUE)
                    .withSortOrder(GetOption.SortOrder.DESCEND)
                    .build()));
    assertThat(all.getKvs())
        .extracting(record -> record.getKey())
        .containsExactly(key("a"), key("b"));
    assertThat(all.getCount()).isEqualTo(2);
    assertThat(
            get(kv.delete(key(""), DeleteOption.builder().isPrefix(true).withPrevKV(true).build()))
                .getPrevKvs())
        .hasSize(2);
  }

  @Test
  void transactions() throws Exception {
    put("a", "1");
    TxnResponse done =
        get(
            kv.txn()
                .If(new Cmp(key("a"), Cmp.Op.EQUAL, CmpTarget.value(bytes("1"))))
                .Then(
                    Op.put(key("b"), bytes("2"), PutOption.DEFAULT),
                    Op.get(key("b"), GetOption.DEFAULT))
                .Else(Op.delete(key("a"), DeleteOption.DEFAULT))
                .commit());
    assertThat(done.isSucceeded()).isTrue();
    assertThat(done.getGetResponses().get(0).getKvs().get(0).getValue()).isEqualTo(bytes("2"));
    TxnResponse other =
        get(
            kv.txn()
                .If(new Cmp(key("a"), Cmp.Op.LESS, CmpTarget.version(1)))
                .Else(Op.delete(key("a"), DeleteOption.DEFAULT))
                .commit());
    assertThat(other.isSucceeded()).isFalse();
    assertThat(other.getDeleteResponses().get(0).getDeleted()).isEqualTo(1);
  }

  @Test
  void watchFromPastRevision() throws Exception {
    long first = put("a", "1");
    put("a", "2");
    BlockingQueue<WatchEvent> events = new LinkedBlockingQueue<>();
    try (Watch.Watcher watcher =
        client
            .getWatchClient()
            .watch(
                key(""),
                WatchOption.builder().isPrefix(true).withRevision(first).withPrevKV(true).build(),
                response -> events.addAll(response.getEvents()))) {
      get(kv.delete(key("a")));
      for (String value : new String[] {"1", "2", ""}) {
        WatchEvent event = Objects.requireNonNull(events.poll(20, TimeUnit.SECONDS), "an event");
        assertThat(event.getKeyValue().getValue()).isEqualTo(bytes(value));
        assertThat(event.getEventType())
            .isEqualTo(value.isEmpty() ? WatchEvent.EventType.DELETE : WatchEvent.EventType.PUT);
      }
      assertThat(watcher.isClosed()).isFalse();
    }
  }

  @Tag("full")
  @Test
  void leasesWithKeepAlive() throws Exception {
    Lease leases = client.getLeaseClient();
    long lease = get(leases.grant(2)).getID();
    get(kv.put(key("a"), bytes("1"), PutOption.builder().withLeaseId(lease).build()));
    BlockingQueue<LeaseKeepAliveResponse> renewed = new LinkedBlockingQueue<>();
    try (CloseableClient keepAlive = leases.keepAlive(lease, collect(renewed))) {
      for (int i = 0; i < 4; i++) {
        LeaseKeepAliveResponse answer =
            Objects.requireNonNull(renewed.poll(20, TimeUnit.SECONDS), "a renewal");
        assertThat(answer.getTTL()).isEqualTo(2);
      }
      assertThat(keepAlive).isNotNull();
      var remaining =
          get(leases.timeToLive(lease, LeaseOption.builder().withAttachedKeys().build()));
      assertThat(remaining.getKeys()).containsExactly(key("a"));
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> get(kv.get(key("a"))).getCount() == 0);
  }

  private static StreamObserver<LeaseKeepAliveResponse> collect(
      BlockingQueue<LeaseKeepAliveResponse> answers) {
    return new StreamObserver<>() {
      @Override
      public void onNext(LeaseKeepAliveResponse answer) {
        answers.add(answer);
      }

      @Override
      public void onError(Throwable failure) {
        // The test observes this as a missing renewal.
      }

      @Override
      public void onCompleted() {
        // As above.
      }
    };
  }

  @Test
  void compactionErrors() throws Exception {
    long first = put("a", "1");
    long second = put("a", "2");
    get(kv.compact(second));
    ExecutionException old =
        catchThrowableOfType(
            ExecutionException.class,
            () -> get(kv.get(key("a"), GetOption.builder().withRevision(first).build())));
    assertThat(old).hasMessageContaining("etcdserver: mvcc: required revision has been compacted");
    ExecutionException future =
        catchThrowableOfType(
            ExecutionException.class,
            () -> get(kv.get(key("a"), GetOption.builder().withRevision(second + 1000).build())));
    assertThat(future).hasMessageContaining("required revision is a future revision");

    BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    try (Watch.Watcher watcher =
        client
            .getWatchClient()
            .watch(
                key("a"),
                WatchOption.builder().withRevision(first).build(),
                Watch.listener(response -> {}, failures::add))) {
      Throwable failure = Objects.requireNonNull(failures.poll(20, TimeUnit.SECONDS), "a failure");
      assertThat(failure).hasMessageContaining("compacted");
      assertThat(watcher).isNotNull();
    }
  }

  @Test
  void locks() throws Exception {
    Lock locks = client.getLockClient();
    Lease leases = client.getLeaseClient();
    long one = get(leases.grant(60)).getID();
    long two = get(leases.grant(60)).getID();
    ByteSequence first = get(locks.lock(key("a"), one)).getKey();
    CompletableFuture<LockResponse> waiting = locks.lock(key("a"), two);
    Awaitility.await().until(() -> get(kv.get(key("a/"), PREFIX)).getCount() == 2);
    assertThat(waiting).isNotDone();
    get(locks.unlock(first));
    ByteSequence second = get(waiting).getKey();
    assertThat(second).isNotEqualTo(first);
    get(locks.unlock(second));
    assertThat(get(kv.get(key("a/"), PREFIX)).getCount()).isZero();
  }

  @Test
  void elections() throws Exception {
    Election elections = client.getElectionClient();
    Lease leases = client.getLeaseClient();
    BlockingQueue<String> leaders = new LinkedBlockingQueue<>();
    elections.observe(
        key("a"),
        new Election.Listener() {
          @Override
          public void onNext(LeaderResponse response) {
            leaders.add(response.getKv().getValue().toString(UTF_8));
          }

          @Override
          public void onError(Throwable failure) {
            leaders.add(failure.toString());
          }

          @Override
          public void onCompleted() {
            leaders.add("completed");
          }
        });
    LeaderKey first =
        get(elections.campaign(key("a"), get(leases.grant(60)).getID(), bytes("one"))).getLeader();
    assertThat(leaders.poll(20, TimeUnit.SECONDS)).isEqualTo("one");
    CompletableFuture<CampaignResponse> waiting =
        elections.campaign(key("a"), get(leases.grant(60)).getID(), bytes("two"));
    get(elections.proclaim(first, bytes("more")));
    assertThat(leaders.poll(20, TimeUnit.SECONDS)).isEqualTo("more");
    assertThat(get(elections.leader(key("a"))).getKv().getValue()).isEqualTo(bytes("more"));
    assertThat(waiting).isNotDone();
    get(elections.resign(first));
    LeaderKey second = get(waiting).getLeader();
    assertThat(leaders.poll(20, TimeUnit.SECONDS)).isEqualTo("two");
    ExecutionException stale =
        catchThrowableOfType(
            ExecutionException.class, () -> get(elections.proclaim(first, bytes("stale"))));
    assertThat(stale).hasCauseInstanceOf(NotLeaderException.class);
    get(elections.resign(second));
    ExecutionException none =
        catchThrowableOfType(ExecutionException.class, () -> get(elections.leader(key("a"))));
    assertThat(none).hasCauseInstanceOf(NoLeaderException.class);
  }

  @Test
  void maintenance() throws Exception {
    String endpoint = "http://" + Objects.requireNonNull(node).endpoint();
    var status = get(client.getMaintenanceClient().statusMember(endpoint));
    assertThat(status.getVersion()).isEqualTo("3.7.1");
    assertThat(status.getLeader()).isEqualTo(status.getHeader().getMemberId());
    assertThat(get(client.getClusterClient().listMember()).getMembers()).hasSize(1);
  }
}
