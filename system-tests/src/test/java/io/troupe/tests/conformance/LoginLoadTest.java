package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.AuthenticateResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Logins while other clients guess passwords, with the default bcrypt cost (about 50 ms for each
 * guess, on half of the cores). docs/components/auth.md has the measured figures.
 */
class LoginLoadTest {
  private static final int GUESSING_CLIENTS = 16;
  private static final int LOGINS = 40;
  private static final int LEAVING_CLIENTS = 200;

  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final Http1 http = new Http1(STORE.target());

  @BeforeEach
  void enable() {
    STORE.needsOwn();
    AuthClient anonymous = AuthClient.anonymous(STORE.client());
    if (!anonymous.call(AuthClient.STATUS, AuthStatusRequest.getDefaultInstance()).getEnabled()) {
      anonymous.userAdd("root", "pw");
      anonymous.grantRole("root", "root");
      anonymous.enable();
    }
  }

  private static AuthenticateRequest login(String password) {
    return AuthenticateRequest.newBuilder().setName("root").setPassword(password).build();
  }

  private static long millisSince(long startNanos) {
    return (System.nanoTime() - startNanos) / 1_000_000;
  }

  /** A password that matched once does not wait in the queue of the guesses. */
  @Test
  void rootLogsInDuringPasswordGuessing_A4() throws Exception {
    AuthClient anonymous = AuthClient.anonymous(STORE.client());
    anonymous.login("root", "pw");
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger guesses = new AtomicInteger();
    List<Thread> guessing = new ArrayList<>();
    for (int i = 0; i < GUESSING_CLIENTS; i++) {
      Thread thread = new Thread(() -> guess(stop, guesses), "guessing-" + i);
      guessing.add(thread);
      thread.start();
    }
    List<Long> millis = new ArrayList<>();
    long startNanos = System.nanoTime();
    try {
      ServedStore.await().until(() -> guesses.get() >= GUESSING_CLIENTS);
      for (int i = 0; i < LOGINS; i++) {
        long start = System.nanoTime();
        anonymous.login("root", "pw");
        millis.add(millisSince(start));
      }
    } finally {
      stop.set(true);
      for (Thread thread : guessing) {
        thread.join();
      }
    }
    long roundMillis = millisSince(startNanos) * GUESSING_CLIENTS / guesses.get();
    millis.sort(null);
    System.out.printf(
        "logins beside %d guessing clients: median %d ms, longest %d ms; a guess is answered after"
            + " %d ms%n",
        GUESSING_CLIENTS, millis.get(LOGINS / 2), millis.get(LOGINS - 1), roundMillis);
    // In the queue of the guesses each login would wait for one guess of each client.
    assertThat(millis.get(LOGINS / 2)).isLessThan(roundMillis / 4);
  }

  private static void guess(AtomicBoolean stop, AtomicInteger guesses) {
    try (ApiClient client = new ApiClient(STORE.target())) {
      while (!stop.get()) {
        try {
          client.call(AuthClient.AUTHENTICATE, login("wrong" + guesses.get()));
          throw new AssertionError("a wrong password fits");
        } catch (StatusRuntimeException refused) {
          assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
          guesses.incrementAndGet();
        }
      }
    }
  }

  private MetricsText metrics() {
    return MetricsText.of(http.get("/metrics").body());
  }

  private double waiting() {
    return metrics().value("troupe_auth_waiting_passwords");
  }

  /** The first login of a user, queued after cancelled logins. */
  private void firstLoginIsServed(String user, double droppedBefore) {
    AuthClient anonymous = AuthClient.anonymous(STORE.client());
    long start = System.nanoTime();
    anonymous.login(user, "first");
    long took = millisSince(start);
    double dropped = metrics().value("troupe_auth_dropped_passwords_total") - droppedBefore;
    System.out.printf(
        "first login after %d clients left: %d ms, dropped %.0f%n", LEAVING_CLIENTS, took, dropped);
    assertThat(dropped).isGreaterThan(LEAVING_CLIENTS / 2);
  }

  private double prepared(String user) {
    AuthClient root = AuthClient.anonymous(STORE.client()).login("root", "pw");
    root.userAdd(user, "first");
    return metrics().value("troupe_auth_dropped_passwords_total");
  }

  @Test
  void passwordsOfCancelledCallsAreNotChecked() {
    double before = prepared("grpc");
    List<ListenableFuture<AuthenticateResponse>> calls = new ArrayList<>();
    for (int i = 0; i < LEAVING_CLIENTS; i++) {
      calls.add(
          ClientCalls.futureUnaryCall(
              STORE.client().channel().newCall(AuthClient.AUTHENTICATE, CallOptions.DEFAULT),
              login("wrong" + i)));
    }
    ServedStore.await().until(() -> waiting() > LEAVING_CLIENTS * 3 / 4);
    calls.forEach(call -> call.cancel(true));
    firstLoginIsServed("grpc", before);
  }

  @Test
  void passwordsOfClosedConnectionsAreNotChecked() {
    double before = prepared("json");
    List<Http1.Raw> connections = new ArrayList<>();
    for (int i = 0; i < LEAVING_CLIENTS; i++) {
      String body = "{\"name\":\"root\",\"password\":\"wrong" + i + "\"}";
      Http1.Raw connection = http.connect();
      connections.add(connection);
      connection.write(
          "POST /v3/auth/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
              + body.getBytes(StandardCharsets.UTF_8).length
              + "\r\n\r\n"
              + body);
    }
    ServedStore.await().until(() -> waiting() > LEAVING_CLIENTS * 3 / 4);
    connections.forEach(Http1.Raw::close);
    firstLoginIsServed("json", before);
  }
}
