package io.troupe.node.malformed;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.StatusRuntimeException;
import io.troupe.node.process.NodeProcess;
import io.troupe.node.process.TestJdks;
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
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Malformed input on the client port, with and without logins: every call is answered or its
 * connection closed, others are served meanwhile, and nothing of it stays. {@code
 * -Dtroupe.malformed.inputs} (default 20000) and {@code -Dtroupe.malformed.seed} make other
 * campaigns; the figures are printed.
 */
class ClientPortMalformedIT {
  private static final int THREADS = 4;

  /** Of the heap after a full collection; leases and keys that odd requests made stay. */
  private static final long HEAP_GROWTH_KIB = 48 << 10;

  @TempDir Path directory = Path.of("");

  private final AtomicLong sent = new AtomicLong();
  private final Map<Kind, Long> sentByKind = new ConcurrentSkipListMap<>();

  /** What is wrong with an input. */
  private enum Kind {
    MESSAGE,
    FRAMING,
    METADATA,
    JSON,
    NOISE,
    HEAD,
    FRAME
  }

  @Test
  void nothingOfItStopsOrBloatsAMember() throws Exception {
    long inputs = Long.getLong("troupe.malformed.inputs", 20_000);
    long seed = Long.getLong("troupe.malformed.seed", System.nanoTime() & 0xffffff);
    System.out.println("malformed input: seed=" + seed + " inputs=" + inputs);
    TestJdks.Jdk jdk = TestJdks.all().get(0);
    NodeProcess.Builder builder =
        NodeProcess.member(jdk, directory, "-Xmx384m")
            .setting("bcrypt-cost", "4")
            .setting("auth-token", token());
    try (NodeProcess member = builder.start().awaitReady();
        Customer customer = new Customer(member.port())) {
      // What a member makes once (classes, threads, pools) is not growth.
      fire(member, customer, seed, inputs / 10);
      Condition before = Condition.of(jdk, member.pid());
      fire(member, customer, seed + 1000, inputs * 8 / 10);
      customer.enableLogins();
      fire(member, customer, seed + 2000, inputs / 10);
      Condition after = settled(jdk, member, before);
      System.out.println("sent " + sentByKind + ", served meanwhile " + customer.served());
      System.out.println("before " + before + "\nafter  " + after);
      assertThat(after.heapKiB())
          .as(() -> Condition.largest(jdk, member.pid()))
          .isLessThan(before.heapKiB() + HEAP_GROWTH_KIB);
      assertThat(after.threads()).isLessThan(before.threads() + 40);
      assertThat(after.files()).isLessThan(before.files() + 50);
      List<String> log = member.err().lines().toList();
      assertThat(log).noneMatch(line -> line.contains(" ERROR ") || line.startsWith("\tat "));
      assertThat(log.size()).as("lines of the log").isLessThan(200 + (int) (inputs / 1000));
    }
    assertThat(sent).hasValueGreaterThanOrEqualTo(inputs * 9 / 10);
  }

  /** Connections that were left are noticed a little later. */
  private static Condition settled(TestJdks.Jdk jdk, NodeProcess member, Condition before) {
    long end = System.nanoTime() + 30_000_000_000L;
    Condition now = Condition.of(jdk, member.pid());
    while (now.files() >= before.files() + 50 && System.nanoTime() < end) {
      now = Condition.of(jdk, member.pid());
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

  /** In turns, and the customer between them. */
  private void fire(NodeProcess member, Customer customer, long seed, long inputs)
      throws Exception {
    Target target = new Target(member.port());
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
                      shoot(target, random);
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

  private void shoot(Target target, Random random) throws IOException {
    CallShots calls = new CallShots(target);
    ByteShots bytes = new ByteShots(target);
    // A hundred inputs on one connection, or one on each of a hundred.
    Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
    int count = 0;
    switch (kind) {
      case MESSAGE -> count = calls.messages(random);
      case FRAMING -> count = calls.framing(random);
      case METADATA -> count = calls.metadata(random);
      case JSON -> count = new JsonShots(target).fire(random);
      case NOISE -> {
        for (; count < 25; count++) {
          bytes.noise(random);
        }
      }
      case HEAD -> {
        for (; count < 25; count++) {
          bytes.heads(random);
        }
      }
      case FRAME -> {
        for (; count < 25; count++) {
          bytes.frames(random);
        }
      }
    }
    sent.addAndGet(count);
    sentByKind.merge(kind, (long) count, Long::sum);
  }
}
