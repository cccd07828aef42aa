package io.troupe.node.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Effects of a hanging resolver on other connections. */
class AddressChecksTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(200);

  private final CountDownLatch hung = new CountDownLatch(1);

  @AfterEach
  void letGo() {
    hung.countDown();
  }

  /** Does not return before the end of the test. */
  private final class HungLookup implements NameLookup {
    final AtomicInteger waiting = new AtomicInteger();

    @Override
    public List<String> names(InetAddress address) throws UnknownHostException {
      waiting.incrementAndGet();
      try {
        hung.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return List.of("m1.test");
    }

    @Override
    public List<InetAddress> addresses(String name) throws UnknownHostException {
      throw new UnknownHostException(name);
    }
  }

  private static AlternativeNames named(String... dnsNames) {
    return new AlternativeNames(List.of(), List.of(dnsNames));
  }

  private static InetAddress from(int number) {
    return FakeLookup.address("10.0.0." + number);
  }

  private static void await(CompletionStage<Void> check) throws Exception {
    check.toCompletableFuture().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static void refused(CompletionStage<Void> check, String text) {
    assertThatThrownBy(() -> await(check))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(CertificateException.class)
        .hasStackTraceContaining(text);
  }

  @Test
  void namesMustResolveToAddress() throws Exception {
    FakeLookup lookup = new FakeLookup().forward("m1.test", "10.0.0.1");
    AddressChecks checks = new AddressChecks(lookup, TIMEOUT);
    await(checks.check(named("m1.test"), from(1)));
    refused(checks.check(named("m1.test"), from(2)), "does not match any of DNSNames");
    await(checks.check(named("m1.test"), from(1)));
  }

  @Test
  void hangingResolverIsNotAwaited() {
    AddressChecks checks = new AddressChecks(new HungLookup(), SHORT);
    long start = System.nanoTime();
    refused(
        checks.check(named("m1.test"), from(1)),
        "name lookup timed out after 200 ms, cannot check whether 10.0.0.1");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT);
  }

  @Test
  void checksWithoutLookupSucceedWhileResolverHangs() {
    HungLookup lookup = new HungLookup();
    AddressChecks checks = new AddressChecks(lookup, TIMEOUT);
    for (int i = 0; i < AddressChecks.AT_ONCE + AddressChecks.WAITING; i++) {
      checks.check(named("m1.test"), from(1 + i));
    }
    AlternativeNames here = new AlternativeNames(List.of("10.0.0.1"), List.of("m1.test"));
    AlternativeNames elsewhere = new AlternativeNames(List.of("10.0.0.2"), List.of());
    assertThat(checks.check(here, from(1)).toCompletableFuture()).isCompleted();
    assertThat(checks.check(named(), from(1)).toCompletableFuture()).isCompleted();
    assertThat(checks.check(elsewhere, from(1)).toCompletableFuture()).isCompletedExceptionally();
  }

  @Test
  void runningAndWaitingLookupsAreBounded() throws Exception {
    HungLookup lookup = new HungLookup();
    AddressChecks checks = new AddressChecks(lookup, TIMEOUT);
    List<CompletionStage<Void>> taken = new ArrayList<>();
    for (int i = 0; i < AddressChecks.AT_ONCE + AddressChecks.WAITING; i++) {
      taken.add(checks.check(named("m1.test"), from(1 + i)));
    }
    refused(checks.check(named("m1.test"), from(100)), "too many concurrent name lookups");
    Awaitility.await().until(() -> lookup.waiting.get() == AddressChecks.AT_ONCE);
    assertThat(taken).noneMatch(check -> check.toCompletableFuture().isDone());
    hung.countDown();
    for (CompletionStage<Void> check : taken) {
      await(check);
    }
    await(checks.check(named("m1.test"), from(100)));
  }

  /** One member whose names cannot be looked up connects again and again. */
  @Test
  void sameNamesFromSameAddressShareLookup() throws Exception {
    HungLookup lookup = new HungLookup();
    AddressChecks checks = new AddressChecks(lookup, SHORT);
    List<CompletionStage<Void>> same = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      same.add(checks.check(named("m1.test"), from(1)));
    }
    for (CompletionStage<Void> check : same) {
      refused(check, "name lookup timed out after 200 ms");
    }
    refused(checks.check(named("m1.test"), from(1)), "name lookup timed out after 200 ms");
    assertThat(lookup.waiting).hasValue(1);
    hung.countDown();
    // The resolver has returned: new checks start a new lookup.
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> await(checks.check(named("m1.test"), from(1))));
  }

  /** Expired checks free their places in the queue. */
  @Test
  void expiredCheckIsNotLookedUp() {
    HungLookup lookup = new HungLookup();
    AddressChecks checks = new AddressChecks(lookup, SHORT);
    for (int round = 0; round < 3; round++) {
      List<CompletionStage<Void>> waiting = new ArrayList<>();
      int free = round == 0 ? AddressChecks.AT_ONCE : 0;
      for (int i = 0; i < free + AddressChecks.WAITING; i++) {
        waiting.add(checks.check(named("m1.test"), FakeLookup.address("10.0." + round + "." + i)));
      }
      for (CompletionStage<Void> check : waiting) {
        refused(check, "name lookup timed out after 200 ms");
      }
    }
    assertThat(lookup.waiting).hasValue(AddressChecks.AT_ONCE);
  }
}
