package io.troupe.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.grpc.error.GrpcException;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class PasswordsTest {
  private static final BooleanSupplier WAITS = Boolean.FALSE::booleanValue;

  private final Passwords passwords = new Passwords(4, 1);

  private String hash(String password) throws Exception {
    return passwords.hash(password, WAITS).toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private boolean fits(String user, String hash, String password) throws Exception {
    return passwords
        .fits(user, hash, password, WAITS)
        .toCompletableFuture()
        .get(20, TimeUnit.SECONDS);
  }

  @Test
  void passwordMatchesOnlyItsHash_A4() throws Exception {
    String hash = hash("secret");
    assertThat(hash).startsWith("$2a$04$");
    assertThat(hash("secret")).isNotEqualTo(hash);
    assertThat(fits("u", hash, "secret")).isTrue();
    assertThat(fits("u", hash, "secret2")).isFalse();
    assertThat(fits("u", hash, "")).isFalse();
    assertThat(fits("u", "", "")).isFalse();
    assertThat(fits("u", "", "secret")).isFalse();
  }

  @Test
  void emptyPasswordIsHashed_A8() throws Exception {
    String hash = hash("");
    assertThat(fits("u", hash, "")).isTrue();
    assertThat(fits("u", hash, "x")).isFalse();
  }

  @Test
  void hashesOfOtherImplementationsMatch() throws Exception {
    // The test vector of OpenBSD's suite.
    assertThat(fits("u", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"))
        .isTrue();
  }

  @Test
  void lengthLimitCountsUtf8Bytes_A8() throws Exception {
    assertThat(fits("u", hash("x".repeat(72)), "x".repeat(72))).isTrue();
    assertThatThrownBy(() -> passwords.hash("\u00e4".repeat(36) + "x", WAITS))
        .isInstanceOf(GrpcException.class)
        .hasMessageContaining("bcrypt: password length exceeds 72 bytes");
    assertThat(fits("u", hash("x".repeat(72)), "x".repeat(73))).isFalse();
  }

  /** A cached match completes immediately; bcrypt completes later, on another thread. */
  @Test
  void matchIsCachedUntilHashChanges() throws Exception {
    Passwords slow = new Passwords(12, 1);
    String hash = slow.hash("secret", WAITS).toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertThat(
            slow.fits("u", hash, "secret", WAITS).toCompletableFuture().get(60, TimeUnit.SECONDS))
        .isTrue();
    assertThat(slow.fits("u", hash, "secret", WAITS).toCompletableFuture())
        .isCompletedWithValue(true);
    assertThat(slow.fits("u", hash, "wrong", WAITS).toCompletableFuture()).isNotDone();
    assertThat(fits("u", hash("other"), "secret")).isFalse();
  }

  /** Keeps the only thread busy until the latch is open. */
  private void keepBusy(CountDownLatch open) throws InterruptedException {
    CountDownLatch busy = new CountDownLatch(1);
    CompletionStage<String> unused =
        passwords.hash(
            "x",
            () -> {
              busy.countDown();
              try {
                return !open.await(20, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    assertThat(busy.await(20, TimeUnit.SECONDS)).isTrue();
  }

  private void fill(BooleanSupplier abandoned, List<CompletableFuture<Boolean>> waiting, int most) {
    for (int i = 0; i < most; i++) {
      waiting.add(
          passwords.fits("u", "$2a$04$no-such-hash", "wrong" + i, abandoned).toCompletableFuture());
    }
  }

  @Test
  void queueIsBounded() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    keepBusy(open);
    List<CompletableFuture<Boolean>> waiting = new ArrayList<>();
    fill(WAITS, waiting, Passwords.WAITING);
    assertThat(passwords.waiting()).isEqualTo(Passwords.WAITING);
    assertThatThrownBy(() -> fill(WAITS, waiting, 1))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.reason()).isEqualTo(Refusal.TOO_MANY_REQUESTS));
    assertThat(passwords.refused()).isOne();
    open.countDown();
  }

  @Test
  void jobOfDisconnectedClientIsNotStarted() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    keepBusy(open);
    AtomicBoolean left = new AtomicBoolean();
    List<CompletableFuture<Boolean>> waiting = new ArrayList<>();
    fill(left::get, waiting, 1);
    left.set(true);
    open.countDown();
    assertThatThrownBy(() -> waiting.get(0).get(20, TimeUnit.SECONDS))
        .hasRootCauseInstanceOf(GrpcException.class)
        .hasMessageContaining("context canceled");
    assertThat(passwords.dropped()).isOne();
  }

  @Test
  void jobsOfDisconnectedClientsFreeQueueSlots() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    keepBusy(open);
    AtomicBoolean left = new AtomicBoolean();
    List<CompletableFuture<Boolean>> waiting = new ArrayList<>();
    fill(left::get, waiting, Passwords.WAITING - 1);
    String hash = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
    CompletableFuture<Boolean> before =
        passwords.fits("u", hash, "U*U", WAITS).toCompletableFuture();
    left.set(true);
    CompletableFuture<Boolean> after =
        passwords.fits("v", hash, "U*U", WAITS).toCompletableFuture();
    assertThat(passwords.waiting()).isEqualTo(2);
    assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
    open.countDown();
    assertThat(before.get(20, TimeUnit.SECONDS)).isTrue();
    assertThat(after.get(20, TimeUnit.SECONDS)).isTrue();
    assertThat(passwords.dropped()).isEqualTo(Passwords.WAITING - 1);
    assertThat(passwords.refused()).isZero();
  }
}
