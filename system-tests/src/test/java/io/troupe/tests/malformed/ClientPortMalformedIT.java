package io.troupe.tests.malformed;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.StatusRuntimeException;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import io.troupe.tests.process.ProcessResources;
import io.troupe.tests.process.TestHeap;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Malformed input on the client port, with and without TLS, with and without logins: each call gets
 * a response or its connection is closed, other clients are served meanwhile, and no memory stays
 * in use. {@code -Dtroupe.malformed.inputs} (default 4000 for each kind of port) and {@code
 * -Dtroupe.malformed.seed} select other campaigns; the test prints the figures.
 */
@Tag("full")
@OwnHeap
class ClientPortMalformedIT {
  private static final int THREADS = 4;

  /** Each input has its own connection from here on. */
  private static final int CONNECTIONS = 25;

  /** Heap after a full collection; leases and keys of odd requests stay. */
  private static final String HEAP = "256m";

  private static final long HEAP_GROWTH_KIB = TestHeap.cachesKiB(HEAP);

  /** Inputs after which a member has created its one-time objects. */
  private static final long WARM_UP = 1000;

  @TempDir Path directory = Path.of("");

  private final AtomicLong sent = new AtomicLong();
  private final Map<Kind, Long> sentByKind = new ConcurrentSkipListMap<>();

  /** The kind of malformed input. */
  private enum Kind {
    MESSAGE,
    FRAMING,
    METADATA,
    JSON,
    NOISE,
    HEAD,
    FRAME,
    /** Kinds for TLS ports. */
    HANDSHAKE
  }

  @Test
  void withoutTlsMalformedInputNeitherStopsNorBloatsMember() throws Exception {
    survives(null);
  }

  @Test
  void withTlsMalformedInputNeitherStopsNorBloatsMember() throws Exception {
    survives(new TlsSide(directory));
  }

  private void survives(@Nullable TlsSide tls) throws Exception {
    long inputs = Long.getLong("troupe.malformed.inputs", 4_000);
    long seed = Long.getLong("troupe.malformed.seed", System.nanoTime() & 0xffffff);
    System.out.printf("malformed input: tls=%s seed=%d inputs=%d%n", tls != null, seed, inputs);
    TestJdks.Jdk jdk = TestJdks.all().get(0);
    int port = FreePort.next();
    NodeProcess.Builder builder =
        NodeProcess.member(jdk, directory, "-Xmx" + HEAP)
            .setting(
                "listen-client-urls", (tls == null ? "http" : "https") + "://127.0.0.1:" + port)
            .setting("bcrypt-cost", "4")
            .setting("auth-token", token());
    Target target = new Target(port, tls == null ? null : tls.client());
    ChannelCredentials credentials = InsecureChannelCredentials.create();
    if (tls != null) {
      builder.settings(tls.settings());
      credentials = tls.credentials();
    }
    long start = System.nanoTime();
    try (NodeProcess member = builder.start().awaitReady();
        WellBehavedClient customer = new WellBehavedClient(port, credentials);
        Guns guns = new Guns(target, tls == null ? null : tls.handshakes(target))) {
      // One-time objects of a member (classes, threads, pools) are not growth.
      fire(member, guns, customer, seed, Math.max(WARM_UP, inputs / 10));
      ProcessResources before = ProcessResources.of(jdk, member.pid());
      fire(member, guns, customer, seed + 1000, inputs * 8 / 10);
      customer.enableLogins();
      fire(member, guns, customer, seed + 2000, inputs / 10);
      guns.close();
      ProcessResources after = settled(jdk, member, before);
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
      System.out.printf(
          "sent %d in %d s %s, served meanwhile %d%n",
          sent.get(), seconds, sentByKind, customer.served());
      System.out.println("before " + before + "\nafter  " + after);
      assertThat(after.heapKiB())
          .as(() -> ProcessResources.largest(jdk, member.pid()))
          .isLessThan(before.heapKiB() + HEAP_GROWTH_KIB);
      assertThat(after.threads()).isLessThan(before.threads() + 40);
      assertThat(after.files()).isLessThan(before.files() + 50);
      List<String> log = member.err().lines().toList();
      assertThat(log).noneMatch(line -> line.contains(" ERROR ") || line.startsWith("\tat "));
      long named = log.stream().filter(line -> line.contains("rejected connection on")).count();
      assertThat(named)
          .as("logged rejections")
          .isLessThanOrEqualTo(tls == null ? 0 : 110 + seconds);
      assertThat(log.size() - named).as("lines of the log").isLessThan(200 + (int) (inputs / 1000));
    }
    assertThat(sent).hasValueGreaterThanOrEqualTo(inputs * 9 / 10);
  }

  /** The member notices closed connections a little later. */
  private static ProcessResources settled(
      TestJdks.Jdk jdk, NodeProcess member, ProcessResources before) {
    long end = System.nanoTime() + 30_000_000_000L;
    ProcessResources now = ProcessResources.of(jdk, member.pid());
    while (now.files() >= before.files() + 50 && System.nanoTime() < end) {
      now = ProcessResources.of(jdk, member.pid());
    }
    return now;
  }

  private String token() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    KeyPair pair = generator.generateKeyPair();
    Path secret = pem("PRIVATE KEY", pair.getPrivate().getEncoded());
    Path open = pem("PUBLIC KEY", pair.getPublic().getEncoded());
    return "jwt,priv-key=" + secret + ",pub-key=" + open + ",sign-method=RS256,ttl=10m";
  }

  private Path pem(String title, byte[] encoded) throws IOException {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded);
    Path file = Files.createTempFile(directory, "key", ".pem");
    String text = "-----BEGIN " + title + "-----\n" + lines + "\n-----END " + title + "-----\n";
    return Files.write(file, text.getBytes(StandardCharsets.US_ASCII));
  }

  /** In turn, with a well-behaved client between them. */
  private void fire(
      NodeProcess member, Guns guns, WellBehavedClient customer, long seed, long inputs)
      throws Exception {
    long end = sent.get() + inputs;
    long turn = Math.max(2000, inputs / 50);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      for (long round = 0; sent.get() < end; round++) {
        List<Future<?>> running = new ArrayList<>();
        long until = Math.min(end, sent.get() + turn);
        for (int i = 0; i < THREADS; i++) {
          Random random = new Random(seed + round * THREADS + i);
          running.add(
              threads.submit(
                  () -> {
                    while (sent.get() < until) {
                      shoot(guns, random);
                    }
                    return null;
                  }));
        }
        for (Future<?> each : running) {
          each.get();
        }
        customer.isServed();
      }
    } catch (ExecutionException finding) {
      throw new AssertionError("seed=" + seed + " " + member, finding.getCause());
    } catch (StatusRuntimeException finding) {
      throw new AssertionError("not served, seed=" + seed + " " + member, finding);
    } finally {
      threads.shutdownNow();
    }
  }

  /** The sources of input. */
  private record Guns(Target target, @Nullable MalformedHandshakes handshakes)
      implements AutoCloseable {
    @Override
    public void close() throws IOException {
      if (handshakes != null) {
        handshakes.close();
      }
    }
  }

  private void shoot(Guns guns, Random random) throws IOException {
    MalformedCalls calls = new MalformedCalls(guns.target());
    MalformedBytes bytes = new MalformedBytes(guns.target());
    MalformedHandshakes handshakes = guns.handshakes();
    // A hundred inputs on one connection, or one on each of several connections.
    Kind kind = Kind.values()[random.nextInt(Kind.values().length - (handshakes == null ? 1 : 0))];
    int count =
        switch (kind) {
          case MESSAGE -> calls.messages(random);
          case FRAMING -> calls.framing(random);
          case METADATA -> calls.metadata(random);
          case JSON -> new MalformedJson(guns.target()).fire(random);
          case NOISE -> each(random, bytes::noise);
          case HEAD -> each(random, bytes::heads);
          case FRAME -> each(random, bytes::frames);
          case HANDSHAKE -> each(random, Objects.requireNonNull(handshakes)::fire);
        };
    sent.addAndGet(count);
    sentByKind.merge(kind, (long) count, Long::sum);
  }

  /** One input on a connection. */
  private interface Shot {
    int fire(Random random) throws IOException;
  }

  private static int each(Random random, Shot shot) throws IOException {
    int count = 0;
    for (int i = 0; i < CONNECTIONS; i++) {
      count += shot.fire(random);
    }
    return count;
  }
}
