package io.troupe.server.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.auth.AuthState;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SimpleTokensTest {
  private static final AuthState STATE = new AuthState(true, 9, List.of(), List.of());

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final SimpleTokens tokens = new SimpleTokens(Duration.ofSeconds(10), now::get, 2000);
  private long index = 100;

  private String login(String user) {
    String prefix = tokens.newPrefix();
    String token = prefix + "." + ++index;
    tokens.applied(new Operation.Authenticate(user, prefix, 9), new Result.Authenticated(1, token));
    return token;
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  @Test
  void tokenIdentifiesUserAtCurrentAuthRevision_A5_A7() {
    String token = login("u");
    assertThat(token).matches("[a-zA-Z]{16}\\.101");
    assertThat(tokens.find(token, STATE)).isEqualTo(new Requester.User("u", 9));
    assertThat(tokens.find(token + "1", STATE)).isNull();
    assertThat(tokens.find("", STATE)).isNull();
  }

  @Test
  void useRestartsTtl_A5() {
    String token = login("u");
    String unused = login("v");
    for (int i = 0; i < 3; i++) {
      pass(Duration.ofSeconds(9));
      assertThat(tokens.find(token, STATE)).isNotNull();
    }
    assertThat(tokens.find(unused, STATE)).isNull();
    pass(Duration.ofSeconds(10));
    assertThat(tokens.find(token, STATE)).isNull();
    assertThat(tokens.size()).isZero();
  }

  @Test
  void tokensAreRemovedOnUserDeletePasswordChangeAndAuthDisable_A5() {
    String other = login("other");
    String deleted = login("u");
    tokens.applied(new Operation.UserDelete("u"), new Result.Done(1));
    assertThat(tokens.find(deleted, STATE)).isNull();
    String changed = login("u");
    tokens.applied(new Operation.UserChangePassword("u", "h"), new Result.Done(1));
    assertThat(tokens.find(changed, STATE)).isNull();
    String granted = login("u");
    tokens.applied(new Operation.UserGrantRole("u", "r"), new Result.Done(1));
    assertThat(tokens.find(granted, STATE)).isNotNull();
    assertThat(tokens.find(other, STATE)).isNotNull();
    tokens.applied(new Operation.AuthDisable(), new Result.Done(1));
    assertThat(tokens.find(granted, STATE)).isNull();
    String before = login("u");
    tokens.opened();
    assertThat(tokens.find(before, STATE)).isNull();
  }

  @Test
  void tokenOfLaterEntryMayBecomeKnown_A5() {
    String prefix = tokens.newPrefix();
    assertThat(tokens.mayStillCome(prefix + ".101", 100)).isTrue();
    assertThat(tokens.mayStillCome(prefix + ".100", 100)).isFalse();
    assertThat(tokens.mayStillCome(prefix + ".", 100)).isFalse();
    assertThat(tokens.mayStillCome(prefix + ".x01", 100)).isFalse();
    assertThat(tokens.mayStillCome(prefix, 100)).isFalse();
    assertThat(tokens.mayStillCome("abc.101", 100)).isFalse();
    assertThat(tokens.mayStillCome(prefix + "." + "9".repeat(30), 100)).isFalse();
  }

  @Test
  void numberOfTokensIsBounded() {
    String first = login("u");
    pass(Duration.ofSeconds(1));
    String last = "";
    for (int i = 0; i < 5000; i++) {
      last = login("u");
      assertThat(tokens.size()).isLessThanOrEqualTo(2000);
    }
    assertThat(tokens.find(last, STATE)).isNotNull();
    assertThat(tokens.find(first, STATE)).isNull();
  }

  @Test
  void loginsOfOneUserNeverEvictTokensOfOtherUsers() {
    List<String> few = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      few.add(login("few"));
    }
    pass(Duration.ofSeconds(1));
    for (int i = 0; i < 10_000; i++) {
      login("many");
    }
    assertThat(few).allSatisfy(token -> assertThat(tokens.find(token, STATE)).isNotNull());
    assertThat(tokens.size()).isLessThanOrEqualTo(2000);
    assertThat(tokens.evicted()).isGreaterThanOrEqualTo(8100);
  }

  /** An unused share that other users took is returned when its user needs it. */
  @Test
  void eachUserKeepsItsShare() {
    for (int i = 0; i < 3000; i++) {
      login("first");
    }
    List<String> later = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      later.add(login("later"));
    }
    assertThat(later).allSatisfy(token -> assertThat(tokens.find(token, STATE)).isNotNull());
    List<String> third = new ArrayList<>();
    for (int i = 0; i < 2000 / 3; i++) {
      third.add(login("third"));
      login("first");
      login("later");
    }
    assertThat(third).allSatisfy(token -> assertThat(tokens.find(token, STATE)).isNotNull());
    assertThat(tokens.size()).isLessThanOrEqualTo(2000);
  }

  @Test
  void usersMayOutnumberTokens() {
    String last = "";
    for (int i = 0; i < 5000; i++) {
      last = login("u" + i);
      assertThat(tokens.find(last, STATE)).isNotNull();
      assertThat(tokens.size()).isLessThanOrEqualTo(2000);
    }
    assertThat(tokens.find(last, STATE)).isEqualTo(new Requester.User("u4999", 9));
  }

  /** A token in use changes its position in the eviction order during an eviction. */
  @Test
  void evictionIsSafeWithConcurrentUse() throws Exception {
    AtomicLong clock = new AtomicLong();
    SimpleTokens live = new SimpleTokens(Duration.ofSeconds(10), () -> clock.addAndGet(1000), 2000);
    AtomicBoolean stop = new AtomicBoolean();
    List<String> known = Collections.synchronizedList(new ArrayList<>());
    Thread user =
        new Thread(
            () -> {
              for (int i = 0; !stop.get(); i++) {
                int size = known.size();
                if (size > 0) {
                  live.find(known.get(Math.floorMod(i * 7919, size)), STATE);
                }
              }
            });
    user.start();
    try {
      for (int i = 0; i < 20_000; i++) {
        String token = live.newPrefix() + "." + i;
        live.applied(new Operation.Authenticate("u", token, 9), new Result.Authenticated(1, token));
        known.add(token);
        assertThat(live.size()).isLessThanOrEqualTo(2000);
      }
    } finally {
      stop.set(true);
      user.join();
    }
  }
}
